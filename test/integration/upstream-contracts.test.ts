import { beforeAll, describe, expect, test } from "vitest";

import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { RawUpstream } from "../../runtime/http1/client/raw-upstream.ts";
import { upstreamContract } from "../contract/upstream.contract.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { openRawReplica } from "../support/raw-replica.ts";
import { selfSigned } from "../support/self-signed.ts";

const connectTimeout = 1_000;

describe("RawUpstream", () => upstreamContract(() => new RawUpstream({ connectTimeout })));

describe("HttpUpstream over TLS", () => {
  let ours: Awaited<ReturnType<typeof selfSigned>>;
  let another: Awaited<ReturnType<typeof selfSigned>>;
  beforeAll(async () => {
    [ours, another] = await Promise.all([selfSigned(), selfSigned()]);
  });

  upstreamContract(
    () => new HttpUpstream({ connectTimeout, certificate: ours.cert }),
    (onHead, onConnection) => openRawReplica(onHead, onConnection, ours),
  );

  test.each<[string, () => Buffer | undefined]>([
    ["shows a certificate other than the expected one", () => another.cert],
    ["shows one that no authority vouches for", () => undefined],
  ])("sends nothing to a server that %s", async (_name, certificate) => {
    await using replica = await disposable(openRawReplica(undefined, undefined, ours));
    await using upstream = await disposable(new HttpUpstream({ connectTimeout, certificate: certificate() }));
    const response = new HeardResponse();
    upstream.dispatch(replica.address, { method: "GET", target: "/", headers: [], body: null }, response);
    await eventually(() => response.outcome !== undefined, { what: "the end of the call" });
    expect(response.outcome).toBe("refused");
    expect(replica.connections.every(({ received }) => received === "")).toBe(true);
  });
});

async function disposable<T extends { close(): Promise<void> }>(made: T | Promise<T>): Promise<T & AsyncDisposable> {
  const thing = await made;
  return Object.assign(thing, { [Symbol.asyncDispose]: () => thing.close() });
}
