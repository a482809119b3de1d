import { request as sendRequest } from "node:http";
import { describe, expect } from "vitest";

import { HttpInvoker } from "../../runtime/adapters/http/upstream/http-invoker.ts";
import { RawUpstream } from "../../runtime/http1/client/raw-upstream.ts";
import { HttpProxy } from "../../runtime/watchdog/http/http-proxy.ts";
import { serveFunction } from "../../runtime/watchdog/serve-function.ts";
import { rawRepliesContract, type HeardReply, type Hop } from "../contract/raw-replies.contract.ts";
import { sampleCall } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";

const connectTimeout = 1_000;

/** The client of replicas alone. */
async function openUpstream(): Promise<Hop> {
  const upstream = new RawUpstream({ connectTimeout });
  return {
    call: async (address, method, body) => {
      const response = new HeardResponse();
      upstream.dispatch(address, { method, target: "/", headers: [], body: body ?? null }, response);
      await eventually(() => response.outcome !== undefined, { what: "the end of the call" });
      const { status, outcome, body: received, error } = response;
      return {
        status,
        body: outcome === "end" ? received : `${outcome}: ${error?.message ?? ""}`,
        whole: outcome === "end",
      };
    },
    close: () => upstream.close(),
  };
}

/** A watchdog in mode `http`, in this process. */
async function openWatchdog(): Promise<Hop> {
  const closing: (() => Promise<void>)[] = [];
  const ports = new Map<string, Promise<number>>();
  const serve = async (address: string): Promise<number> => {
    const [host = "", port = ""] = address.split(":");
    const proxy = new HttpProxy({ host, port: Number(port), execTimeout: 0, bufferBody: false, log: () => {} });
    const { port: own, drain } = await serveFunction({
      host,
      port: 0,
      maxInflight: 0,
      healthPath: "/_/health",
      readyPath: "/_/ready",
      handler: {
        handle: (request, response) => proxy.handle(request, response),
        givesContinue: true,
        ready: async () => true,
        started: Promise.resolve(),
        ended: new Promise(() => {}),
        close: async () => proxy.close(),
      },
    });
    closing.push(async () => {
      proxy.close();
      await drain(0);
    });
    return own;
  };
  return {
    call: async (address, method, body) => {
      const port = ports.get(address) ?? serve(address);
      ports.set(address, port);
      return callOverHttp(await port, "/", method, body);
    },
    close: async () => {
      for (const close of closing) await close();
    },
  };
}

async function openGateway(): Promise<Hop> {
  const gateway = await openSyncGateway();
  return {
    call: (address, method, body) => {
      gateway.deploy("raw", { addresses: [address] });
      return callOverHttp(gateway.port, "/function/raw", method, body);
    },
    close: () => gateway.close(),
  };
}

/** How a queue-worker runs a function. */
async function openInvoker(): Promise<Hop> {
  const upstream = new RawUpstream({ connectTimeout });
  const invoker = new HttpInvoker(upstream);
  const options = { attempt: 1, timeout: 5_000, outputLimit: 1_000_000, signal: new AbortController().signal };
  return {
    call: async (address, method) => {
      const outcome = await invoker.invoke(
        address,
        sampleCall({ method, headers: [], body: Buffer.alloc(0) }),
        options,
      );
      if (outcome.kind !== "responded") return { status: 0, body: JSON.stringify(outcome), whole: false };
      return { status: outcome.status, body: Buffer.from(outcome.body ?? "").toString("latin1"), whole: true };
    },
    close: () => upstream.close(),
  };
}

function callOverHttp(port: number, path: string, method: string, sent?: Buffer): Promise<HeardReply> {
  return new Promise((resolve) => {
    let status = 0;
    let body = "";
    const end = (whole: boolean): void => resolve({ status, body, whole });
    const request = sendRequest({ port, path, method, agent: false, maxHeaderSize: 100_000 }, (response) => {
      status = response.statusCode ?? 0;
      response.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
      response.on("error", () => end(false)).on("close", () => end(response.complete));
    });
    // It cannot send the rest of its body after an early reply.
    request.on("error", () => setImmediate(end, false)).end(sent);
  });
}

const failed = expect.stringMatching(/^reset: /) as string;

describe("the client of replicas", () =>
  rawRepliesContract(openUpstream, {
    malformed: (why) => ({
      whole: false,
      body: expect.stringContaining(`malformed: its reply has`) && expect.stringContaining(why),
    }),
    reset: { whole: false, body: failed },
  }));

describe("a queue-worker", () =>
  rawRepliesContract(openInvoker, {
    malformed: (why) => ({ status: 0, body: expect.stringContaining(JSON.stringify(why).slice(1, -1)) }),
    reset: { status: 0, body: expect.stringContaining("unreachable") },
  }));

describe("a watchdog in mode http", () =>
  rawRepliesContract(openWatchdog, {
    malformed: (why) => ({
      status: 502,
      whole: true,
      body: expect.stringMatching(sentence("the function's process: its reply has", why)),
    }),
    reset: { body: expect.not.stringContaining("reach") },
  }));

describe("a gateway", () =>
  rawRepliesContract(openGateway, {
    malformed: (why) => ({
      status: 502,
      whole: true,
      body: expect.stringMatching(sentence('function "raw.functions": its reply has', why)),
    }),
    reset: { body: expect.not.stringContaining("reach") },
  }));

function sentence(subject: string, why: string): RegExp {
  return new RegExp(`^Cannot call ${RegExp.escape(subject)}.*${RegExp.escape(why)}.*\n$`);
}
