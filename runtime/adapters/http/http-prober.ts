import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";

import type { FunctionProtocol } from "../../core/function-limits.ts";
import type { Prober } from "../../core/ports/prober.ts";

/** Asks replicas over connections of its own. */
export class HttpProber implements Prober {
  probe(address: string, path: string | undefined, timeout: number, protocol?: FunctionProtocol): Promise<boolean> {
    if (path !== undefined) return answers(address, path, timeout);
    return protocol === "h2c" ? greets(address, timeout) : connects(address, timeout);
  }
}

/** HTTP/2 begins with the settings of each side. */
function greets(address: string, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${address}`);
    const end = (outcome: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(end, timeout, false);
    session.once("remoteSettings", () => end(true));
    session.once("close", () => end(false));
    session.on("error", () => end(false));
  });
}

function connects(address: string, timeout: number): Promise<boolean> {
  const { host, port } = split(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (outcome: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(end, timeout, false);
    socket.once("connect", () => end(true));
    socket.on("error", () => end(false));
  });
}

function answers(address: string, path: string, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({
      ...split(address),
      path,
      agent: false,
      headers: { host: address, "user-agent": "weir-probe" },
    });
    const end = (outcome: boolean): void => {
      clearTimeout(timer);
      probe.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(end, timeout, false);
    probe.once("response", ({ statusCode = 0 }) => end(statusCode >= 200 && statusCode < 400));
    probe.on("error", () => end(false));
    probe.end();
  });
}

function split(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(address.slice(colon + 1)) };
}
