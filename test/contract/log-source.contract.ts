import { expect, test } from "vitest";

import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { LogQuery, LogSource } from "../../runtime/core/ports/log-source.ts";
import { eventually } from "../support/eventually.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

/** An open source, and how replicas write and go. */
export interface OpenLogSource extends Pick<TestNamespaces, "namespaces"> {
  readonly source: LogSource;
  /** Resolves when the line, without newline, can be read. */
  write(ref: FunctionRef, instance: string, text: string): Promise<void>;
  /** As `write`, to the other output; absent where records do not say which it was. */
  writeError?(ref: FunctionRef, instance: string, text: string): Promise<void>;
  removeReplica(ref: FunctionRef, instance: string): Promise<void>;
  close(): Promise<void>;
}

/** An open source, its namespaces, and a query for all records of a function in the first. */
interface Opened extends OpenLogSource {
  readonly hello: FunctionRef;
  readonly other: string;
  readonly all: LogQuery;
}

async function collect(records: AsyncIterable<LogRecord>, into: LogRecord[] = []): Promise<LogRecord[]> {
  for await (const record of records) into.push(record);
  return into;
}

const texts = (records: readonly LogRecord[]): string[] => records.map(({ text }) => text);

/** What every `LogSource` promises; each test opens one that is empty. */
export function logSourceContract(open: () => Promise<OpenLogSource>): void {
  const opened = (name: string, body: (opened: Opened, signal: AbortController) => Promise<void>): void => {
    test(name, async () => {
      const logs = await open();
      const abort = new AbortController();
      try {
        const [namespace, other] = namespacesOf(logs);
        const hello = { namespace, name: "hello" };
        const all = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };
        await body({ ...logs, source: logs.source, hello, other, all }, abort);
      } finally {
        abort.abort();
        await logs.close();
      }
    });
  };

  opened(
    "read() returns the backlog of all replicas in order of time, with all fields",
    async ({ source, write, hello, all }, { signal }) => {
      await write(hello, "hello-a", "one");
      await write(hello, "hello-b", "other");
      await write(hello, "hello-a", "two  with\ttabs and ünicode");
      const records = await collect(source.read(all, signal));

      expect(records.map(({ instance, text }) => [instance, text])).toEqual([
        ["hello-a", "one\n"],
        ["hello-b", "other\n"],
        ["hello-a", "two  with\ttabs and ünicode\n"],
      ]);
      expect(records[0]).toMatchObject(hello);
      expect(Math.abs(Date.parse(records[0]?.timestamp ?? "") - Date.now())).toBeLessThan(60_000);
    },
  );

  opened("read() of a function without replicas is empty", async ({ source, all }, { signal }) => {
    expect(await collect(source.read(all, signal))).toEqual([]);
  });

  opened(
    "a record names the output that it was written to, where that is known",
    async ({ source, write, writeError, hello, all }, { signal }) => {
      await write(hello, "hello-a", "out");
      await writeError?.(hello, "hello-a", "error");
      const found = (await collect(source.read(all, signal))).map(({ stream, text }) => [stream, text]);
      const both = [
        ["stdout", "out\n"],
        ["stderr", "error\n"],
      ];
      expect(found).toEqual(writeError === undefined ? [[undefined, "out\n"]] : both);
    },
  );

  opened("a tag is no part of the text, but names the call", async ({ source, write, hello, all }, { signal }) => {
    const call = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
    await write(hello, "hello-a", `\u001e${call}\u001ftagged`);
    await write(hello, "hello-a", "not");
    const found = (await collect(source.read(all, signal))).map((record) => [record.call, record.text]);
    expect(found).toEqual([
      [call, "tagged\n"],
      [undefined, "not\n"],
    ]);
  });

  opened("instance and tail select records", async ({ source, write, hello, all }, { signal }) => {
    for (const text of ["1", "2", "3"]) {
      await write(hello, "hello-a", text);
      await write(hello, "hello-b", `b${text}`);
    }

    expect(texts(await collect(source.read({ ...all, instance: "hello-a", tail: 2 }, signal)))).toEqual(["2\n", "3\n"]);
    expect(await collect(source.read({ ...all, tail: 1 }, signal))).toHaveLength(2);
    expect(await collect(source.read({ ...all, instance: "nobody" }, signal))).toEqual([]);
  });

  opened("since leaves out what is older", async ({ source, write, hello, all }, { signal }) => {
    await write(hello, "hello-a", "old");
    const since = await eventually(() => Date.now() + 1, { what: "a time" });
    await eventually(() => Date.now() > since, { what: "a later time", every: 1 });
    await write(hello, "hello-a", "new");

    expect(texts(await collect(source.read({ ...all, since }, signal)))).toEqual(["new\n"]);
  });

  opened(
    "other functions are not shown, nor replicas that no longer run",
    async ({ source, write, removeReplica, hello, other, all }, { signal }) => {
      await write(hello, "hello-a", "mine");
      await write({ ...hello, name: "other" }, "other-a", "theirs");
      await write({ ...hello, namespace: other }, "hello-d", "theirs");
      await write(hello, "hello-b", "gone");
      await removeReplica(hello, "hello-b");

      expect(texts(await collect(source.read(all, signal)))).toEqual(["mine\n"]);
    },
  );

  opened(
    "follow continues with new records, of new replicas too, until it is aborted",
    async ({ source, write, hello, all }, abort) => {
      await write(hello, "hello-a", "first");
      await write(hello, "hello-b", "second");
      await write(hello, "hello-a", "third");
      const records: LogRecord[] = [];
      const reading = collect(source.read({ ...all, follow: true }, abort.signal), records);
      await eventually(() => records.length === 3, { what: "the backlog" });
      expect(texts(records)).toEqual(["first\n", "second\n", "third\n"]);
      await write(hello, "hello-a", "after");
      await write(hello, "hello-c", "new replica");
      await eventually(() => records.length === 5, { what: "two more records" });
      abort.abort();
      await reading;

      expect(texts(records.slice(3)).sort()).toEqual(["after\n", "new replica\n"]);
    },
  );
}
