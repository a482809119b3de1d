import { h } from "preact";
import { describe, expect, test } from "vitest";

import { useConsole } from "../../../../runtime/console/data/console-context.ts";
import { useLoaded, type LoadedSource } from "../../../../runtime/console/data/requests/use-loaded.ts";
import type { Replies } from "../render-part.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();

const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ code, detail: `Cannot read it: ${code}` }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

/** Shows what was read of `/system/<name>`. */
function open(name: string, replies: Replies) {
  let source: LoadedSource<string> | undefined;
  function Probe({ wanted }: { readonly wanted: string }) {
    const { requests } = useConsole();
    source = useLoaded(wanted, (signal) => requests.get<string>(`/system/${wanted}`, { signal }));
    return source.state.value.value ?? "nothing";
  }
  const part = shown(h(Probe, { wanted: name }), replies);
  return {
    part,
    ask: (wanted: string) => part.show(h(Probe, { wanted })),
    state: () => source?.state.value,
    reload: () => source?.reload(),
  };
}

describe("useLoaded()", () => {
  test("the value stays while a newer one is on its way", async () => {
    const replies = ["one", "two"];
    const held = Promise.withResolvers<void>();
    const { part, state, reload } = open("info", async () => {
      if (replies.length === 1) await held.promise;
      return Response.json(replies.shift());
    });
    await expect.poll(() => part.body.text).toBe("one");

    reload();

    await expect.poll(() => state()?.since).toBeGreaterThan(0);
    expect(part.body.text).toBe("one");
    held.resolve();
    await expect.poll(() => part.body.text).toBe("two");
    expect(state()).toMatchObject({ failure: undefined, since: undefined });
  });

  test("another key cancels the read before, and drops its value", async () => {
    const signals = new Map<string, AbortSignal | null | undefined>();
    const { part, ask, state } = open("a", (_method, path, { signal }) => {
      signals.set(path, signal);
      if (path === "/system/b") return new Promise<Response>(() => {});
      return Response.json(path);
    });
    await expect.poll(() => part.body.text).toBe("/system/a");

    ask("b");
    await expect.poll(() => signals.has("/system/b")).toBe(true);
    expect(state()?.value).toBeUndefined();
    ask("c");

    await expect.poll(() => part.body.text).toBe("/system/c");
    expect(signals.get("/system/b")?.aborted).toBe(true);
    expect(signals.get("/system/c")?.aborted).toBe(false);
  });

  test.each([
    [429, "too_many_calls"],
    [503, "history_unavailable"],
  ])("a gateway that says %i %s is asked again when it wants to be", async (status, code) => {
    const replies = [problem(status, code, { "Retry-After": "0" }), Response.json("there")];
    const { part, state } = open("info", () => replies.shift() ?? problem(500, "internal_error"));

    await expect.poll(() => part.body.text).toBe("there");

    expect(state()?.failure).toBeUndefined();
    expect(replies).toEqual([]);
  });

  test.each([
    [403, "forbidden"],
    [404, "call_not_found"],
  ])("after %i %s it is not asked again, and a value that was read stays", async (status, code) => {
    let asked = 0;
    const { part, state, reload } = open("info", () =>
      ++asked === 1 ? Response.json("there") : problem(status, code, { "Retry-After": "0" }),
    );
    await expect.poll(() => part.body.text).toBe("there");

    reload();

    await expect.poll(() => state()?.failure?.code).toBe(code);
    expect(state()).toMatchObject({ value: "there", since: undefined });
    expect(asked).toBe(2);
  });

  test("what is read for a part that is gone is cancelled", async () => {
    let signal: AbortSignal | null | undefined;
    const { part } = open("info", (_method, _path, init) => {
      ({ signal } = init);
      return new Promise<Response>(() => {});
    });
    await expect.poll(() => signal?.aborted).toBe(false);

    part.show("nothing");

    await expect.poll(() => signal?.aborted).toBe(true);
  });
});
