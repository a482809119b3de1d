import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";

import { socketPathOf, unixAuthority } from "../../../api/replica-address.ts";
import type { FunctionProtocol } from "../../../core/functions/function-limits.ts";
import type { Prober, ProbeResult } from "../../../core/ports/prober.ts";

/** Probes replicas, each time over a new connection. */
export class HttpProber implements Prober {
  probe(address: string, path: string | undefined, timeout: number, protocol?: FunctionProtocol): Promise<ProbeResult> {
    if (path !== undefined) return getPasses(address, path, timeout);
    return protocol === "h2c" ? speaksHttp2(address, timeout) : acceptsConnection(address, timeout);
  }
}

const passed: ProbeResult = { kind: "passed" };
const silent: ProbeResult = { kind: "silent" };

/** HTTP/2 begins with a SETTINGS frame of each side: the replica's shows that it speaks HTTP/2 (RFC 9113 §3.4). */
function speaksHttp2(address: string, timeout: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${authorityOf(address)}`, {
      createConnection: () => connect(placeOf(address)),
    });
    const end = (result: ProbeResult): void => {
      clearTimeout(timer);
      session.destroy();
      resolve(result);
    };
    const timer = setTimeout(end, timeout, silent);
    session.once("remoteSettings", () => end(passed));
    session.once("close", () => end({ kind: "broken", words: "it closed the connection" }));
    session.on("error", (err) => end(failed(err)));
  });
}

function acceptsConnection(address: string, timeout: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect(placeOf(address));
    const end = (result: ProbeResult): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(end, timeout, silent);
    socket.once("connect", () => end(passed));
    socket.on("error", (err) => end(failed(err)));
  });
}

function getPasses(address: string, path: string, timeout: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const probe = request({
      path,
      createConnection: () => connect(placeOf(address)),
      headers: { host: authorityOf(address), "user-agent": "weir-probe" },
    });
    const end = (result: ProbeResult): void => {
      clearTimeout(timer);
      probe.destroy();
      resolve(result);
    };
    const timer = setTimeout(end, timeout, silent);
    probe.once("response", ({ statusCode: status = 0 }) =>
      end(status >= 200 && status < 400 ? passed : { kind: "responded", status }),
    );
    probe.on("error", (err) => end(failed(err)));
    probe.end();
  });
}

function failed(err: NodeJS.ErrnoException): ProbeResult {
  return err.code === "ECONNREFUSED" || err.code === "ENOENT"
    ? { kind: "refused" }
    : { kind: "broken", words: err.message };
}

function authorityOf(address: string): string {
  return socketPathOf(address) === undefined ? address : unixAuthority;
}

function placeOf(address: string): { readonly path: string } | { readonly host: string; readonly port: number } {
  const path = socketPathOf(address);
  if (path !== undefined) return { path };
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(address.slice(colon + 1)) };
}
