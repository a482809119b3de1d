import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";

import type { ClusterIdentity } from "./cluster-identity.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { exchangeFields } from "./token-exchange.ts";
import { headerOf } from "./token-keys.ts";

/** Tokens that are issued and used again and again while a platform changes. */
export interface TokensInUse {
  /** The newest token of each key by its `kid`, in the order in which the keys came into use. */
  byKey(): ReadonlyMap<string, string>;
  /** A line for each failure: of an exchange, of a call with its token, or of one with the first token. */
  failures(): readonly string[];
  /** Resolves with the number of rounds, once the last of them is over. */
  stop(): Promise<number>;
}

export interface TokensInUseOptions {
  readonly platform: ClusterPlatform;
  readonly identity: ClusterIdentity;
  /** A service account with a role that allows calls of the function. */
  readonly account: string;
  /** A function that asks for a caller. */
  readonly functionName: string;
  /** After so many rounds it ends by itself. */
  readonly atMost: number;
}

const timeout = 30_000;
/** Milliseconds between two rounds. */
const interval = 200;

/**
 * Exchanges the account's token and calls the function with what it gets, and with the first token, again and again. Each
 * request has a connection of its own, so that all gateways take part.
 */
export async function useTokens(options: TokensInUseOptions): Promise<TokensInUse> {
  const { platform, identity, account, functionName, atMost } = options;
  const subject = await identity.accountToken({ name: account });
  const first = await identity.apiToken(account);
  const agent = new Agent({ pipelining: 0 });
  const byKey = new Map<string, string>([[kidOf(first), first]]);
  const failures: string[] = [];
  let isOver = false;

  const post = async (path: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> => {
    const signal = AbortSignal.timeout(timeout);
    const init = { dispatcher: agent, method: "POST" as const, headers, body, signal };
    const { statusCode, body: reply } = await request(`${platform.url}${path}`, init);
    const text = await reply.text();
    if (statusCode === 200) return text;
    throw new Error(`${path}: ${statusCode} ${text.slice(0, 300)}`);
  };
  const exchange = async (): Promise<string> => {
    const form = new URLSearchParams({ ...exchangeFields, subject_token: subject });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const reply = JSON.parse(await post("/oauth/token", headers, form.toString())) as { readonly access_token: string };
    byKey.set(kidOf(reply.access_token), reply.access_token);
    return reply.access_token;
  };
  const call = (token: string): Promise<unknown> =>
    post(`/function/${functionName}`, { authorization: `Bearer ${token}` }, "hello");
  const attempt = (what: string, step: Promise<unknown>): Promise<unknown> =>
    step.catch((err: unknown) => void failures.push(`${what}: ${err instanceof Error ? err.message : String(err)}`));

  const run = async (): Promise<number> => {
    let round = 0;
    for (; round < atMost && !isOver; round += 1) {
      await Promise.all([
        attempt(`round ${round}, a new token`, exchange().then(call)),
        attempt(`round ${round}, the first token`, call(first)),
        pause(interval),
      ]);
    }
    await agent.close();
    return round;
  };
  const rounds = run();
  return {
    byKey: () => byKey,
    failures: () => failures,
    stop: () => {
      isOver = true;
      return rounds;
    },
  };
}

function kidOf(token: string): string {
  return String(headerOf(token)["kid"]);
}
