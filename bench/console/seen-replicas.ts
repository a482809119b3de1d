import type { BrowserContext } from "playwright-core";

import { eventually } from "../../test/support/eventually.ts";

const patience = 15_000;

/** What pages with the list of functions show of their desired replicas. */
export interface SeenReplicas {
  /** From now on a number that was seen before counts as not seen. */
  forget(name: string, replicas: number): void;
  /** When the first frame with this number was painted, milliseconds since 1970; waits for it. */
  seenAt(name: string, replicas: number): Promise<number>;
}

/** Watches all pages that a context loads from now on. */
export async function watchReplicas(context: BrowserContext): Promise<SeenReplicas> {
  const seen = new Map<string, number>();
  const keyOf = (name: string, replicas: number): string => `${name} ${replicas}`;
  await context.exposeBinding(
    "weirReplicas",
    (_source, name: string, replicas: number, at: number) => void seen.set(keyOf(name, replicas), at),
  );
  await context.addInitScript({ content: program });
  return {
    forget: (name, replicas) => void seen.delete(keyOf(name, replicas)),
    seenAt: (name, replicas) =>
      eventually(() => seen.get(keyOf(name, replicas)), {
        what: `${replicas} replicas of ${name} on the screen`,
        within: patience,
      }),
  };
}

/** Looks at the rows in each frame. A message that is sent before a frame is painted is heard after it. */
const program = `(() => {
  const known = new Map();
  const look = () => {
    requestAnimationFrame(look);
    const changed = [];
    for (const row of document.querySelectorAll(".virtual-rows .row")) {
      const name = row.querySelector(".name")?.firstChild?.nodeValue?.trim();
      const [, wanted] = row.querySelectorAll("[role=cell]")[2]?.textContent.split(" / ") ?? [];
      if (name === undefined || wanted === undefined || known.get(name) === wanted) continue;
      known.set(name, wanted);
      changed.push([name, Number(wanted)]);
    }
    if (changed.length === 0) return;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      const at = Date.now();
      for (const [name, wanted] of changed) weirReplicas(name, wanted, at);
    };
    port2.postMessage(undefined);
  };
  requestAnimationFrame(look);
})()`;
