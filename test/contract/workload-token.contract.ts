import { afterEach, expect, test } from "vitest";

import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import type { Replica } from "../../runtime/core/ports/replicas.ts";
import { workloadTokenFile } from "../../runtime/api/names.ts";

/** A replica, and its reply to a call. */
export interface RunningReplica extends Pick<Replica, "id"> {
  call(): Promise<string>;
}

/** An engine on which functions are run. */
export interface TokenEngine {
  engine(): Pick<OpenEngine, "replicas" | "secretsDirectory">;
  /** Starts a replica that replies with what the script writes, and waits until it is ready. */
  run(ref: FunctionRef, script: string, environment: Readonly<Record<string, string>>): Promise<RunningReplica>;
}

const ref: FunctionRef = { namespace: "functions", name: "tokened" };
const other: FunctionRef = { namespace: "functions", name: "tokenless" };
/** The token, its mode, and whether it is the function's own; `none` when there is none. */
const look = `cat "$F" 2>/dev/null || echo none; ls -l "$F" 2>/dev/null | cut -c1-10; test -O "$F" && echo own; rm -f "$F" 2>/dev/null; exit 0`;

/** What replicas of an engine see of workload tokens. */
export function workloadTokenContract({ engine, run }: TokenEngine): void {
  afterEach(async () => {
    const { replicas } = engine();
    const ours = (await replicas.list()).filter(({ name }) => [ref, other].some((each) => each.name === name));
    await Promise.all(ours.map(({ id }) => replicas.stop(id)));
    for (const each of [ref, other]) await replicas.forget(each);
  });
  const start = (of: FunctionRef): Promise<RunningReplica> =>
    run(of, look, { F: `${engine().secretsDirectory(of)}/${workloadTokenFile.machine}` });
  const shown = (token: string): string => `${token}\n-r--------\nown\n`;

  test("a workload token is readable by its function alone, and replaced and removed while that runs", async () => {
    const { replicas } = engine();
    await replicas.showToken(ref, "first\n");
    const replica = await start(ref);
    const none = await start(other);
    expect(await replica.call()).toBe(shown("first"));
    expect(await none.call()).toBe("none\n");
    await replicas.showToken(ref, "second\n");
    expect(await replica.call()).toBe(shown("second"));
    const next = await start(ref);
    await replicas.stop(replica.id);
    expect(await next.call()).toBe(shown("second"));
    await replicas.showToken(ref, undefined);
    await replicas.showToken(ref, undefined);
    expect(await next.call()).toBe("none\n");
    await replicas.showToken(ref, "third\n");
    expect(await next.call()).toBe(shown("third"));
  });

  test("a function that is forgotten leaves no workload token to the next of its name", async () => {
    const { replicas } = engine();
    await replicas.showToken(ref, "first\n");
    const before = await start(ref);
    await replicas.stop(before.id);
    await replicas.forget(ref);
    expect(await (await start(ref)).call()).toBe("none\n");
  });
}
