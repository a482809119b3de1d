import { readFile } from "node:fs/promises";
import { isIP, type Socket } from "node:net";

import { formatDuration } from "../../api/duration.ts";
import type { Finding } from "../../api/schemas/doctor-report.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { TlsFiles } from "../client/dispatcher.ts";
import { readStartOf } from "../client/read-limited.ts";
import { unreachable } from "../client/unreachable.ts";
import {
  lookUp,
  openSocket,
  openTunnel,
  urlPort,
  readCertificate,
  type HostPort,
  type ShownCertificate,
  type StepBounds,
} from "./dial.ts";
import { judgeCertificate, judgeClock, trustAdvice } from "./judge-client.ts";
import { unbracketed, type ChosenProxy } from "./proxy-for.ts";

export interface ReachParts {
  readonly address: string;
  readonly proxy: ChosenProxy | undefined;
  readonly tls: TlsFiles;
  readonly bounds: StepBounds;
  /** Sends requests without credentials. */
  readonly client: GatewayClient;
}

/** Findings of each step on the way to the gateway; those after the first problem are missing. */
export interface Reach {
  readonly findings: readonly Finding[];
  readonly isReached: boolean;
}

/** Goes the way to the gateway step by step: name, connection or proxy, TLS, a request, clock. */
export async function examineReach(parts: ReachParts): Promise<Reach> {
  const findings: Finding[] = [];
  const steps = [nameStep, connectionStep, requestStep];
  for (const step of steps) {
    findings.push(...(await step(parts)));
    parts.bounds.signal.throwIfAborted();
    if (findings.some(({ level }) => level === "problem")) break;
  }
  return { findings, isReached: findings.some(({ id }) => id === "http") && findings.every(isNoFailure) };
}

/** A clock that is off does not keep requests from the gateway. */
function isNoFailure({ id, level }: Finding): boolean {
  return level !== "problem" || id === "clock";
}

/** Behind a proxy it is the proxy that looks the name up. */
async function nameStep({ address, proxy, bounds }: ReachParts): Promise<readonly Finding[]> {
  const host = unbracketed(new URL(address).hostname);
  if (proxy !== undefined || isIP(host) !== 0) return [];
  const finding = { id: "dns", subject: `name ${host}` } as const;
  try {
    const addresses = await lookUp(host, bounds);
    return [{ ...finding, level: "ok", sentence: `Its address is ${addresses.join(", ")}` }];
  } catch (err) {
    return [failed(finding, address, bounds, err, "correct --gateway, or the resolver of this machine")];
  }
}

async function connectionStep(parts: ReachParts): Promise<readonly Finding[]> {
  const { address, proxy, bounds } = parts;
  const url = new URL(address);
  const target = { host: unbracketed(url.hostname), port: urlPort(url) };
  const isSecure = url.protocol === "https:";
  if (proxy !== undefined) return proxyStep(parts, proxy, target, isSecure);
  const finding = { id: "tcp", subject: `port ${target.port}` } as const;
  try {
    const socket = await openSocket(target, bounds);
    const open: Finding = { ...finding, level: "ok", sentence: "It accepts connections" };
    return isSecure ? [open, await tlsStep(parts, socket, target.host)] : [closed(socket, open)];
  } catch (err) {
    return [failed(finding, address, bounds, err, "start the gateway, correct --gateway, or open the firewall")];
  }
}

async function proxyStep(
  parts: ReachParts,
  { url, variable }: ChosenProxy,
  target: HostPort,
  isSecure: boolean,
): Promise<readonly Finding[]> {
  const { bounds } = parts;
  const shown = `${url.protocol}//${url.host}`;
  const finding = { id: "proxy", subject: `proxy ${shown}` } as const;
  const used: Finding = { ...finding, level: "ok", sentence: `Requests go through it, as ${variable} says` };
  // Others are left to the request.
  if (url.protocol !== "http:" && url.protocol !== "https:") return [used];
  try {
    if (isSecure) return [used, await tlsStep(parts, await openTunnel(url, target, bounds), target.host)];
    return [closed(await openSocket({ host: unbracketed(url.hostname), port: urlPort(url) }, bounds), used)];
  } catch (err) {
    const advice = `correct ${variable}, or name ${target.host} in NO_PROXY`;
    return [failed(finding, shown, bounds, err, advice, "the gateway through the proxy")];
  }
}

async function tlsStep({ address, tls, bounds }: ReachParts, socket: Socket, host: string): Promise<Finding> {
  const finding = { id: "tls", subject: `certificate of ${host}` } as const;
  let shown: ShownCertificate;
  try {
    const [ca, cert, key] = await Promise.all([tls.caFile, tls.certFile, tls.keyFile].map(readIfNamed));
    const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
    shown = await readCertificate(socket, host, files, bounds);
  } catch (err) {
    return failed(finding, address, bounds, err, "correct --gateway, or the TLS settings of the gateway");
  } finally {
    socket.destroy();
  }
  if (tls.tlsInsecure === true)
    return {
      ...finding,
      level: "warning",
      sentence: "Any certificate is accepted: whoever is on the way can read and change all",
      advice: "use --ca-file instead of --tls-insecure",
    };
  if (shown.distrust === undefined) return judgeCertificate(finding.subject, shown.validTo, Date.now());
  return failed(finding, address, bounds, shown.distrust, trustAdvice(shown.distrust));
}

async function requestStep({ address, client, bounds }: ReachParts): Promise<readonly Finding[]> {
  const finding = { id: "http", subject: "gateway" } as const;
  const sent = Date.now();
  try {
    const { timeout } = bounds;
    const reply = await client.send("GET", "/healthz", { authorized: false, timeout, idleTimeout: timeout });
    const received = Date.now();
    await readStartOf(reply.body, 1_024);
    reply.body.destroy();
    if (reply.status !== 200)
      return [
        {
          ...finding,
          level: "problem",
          sentence: `It replies ${reply.status} to GET /healthz; is it a Weir gateway?`,
          advice: "correct --gateway, or look at the proxy before the gateway",
        },
      ];
    const clock = judgeClock(String(reply.headers["date"]), sent, received);
    const took = formatDuration(Math.max(1, received - sent));
    return [{ ...finding, level: "ok", sentence: `It replies, in ${took}` }, ...(clock === undefined ? [] : [clock])];
  } catch (err) {
    return [failed(finding, address, bounds, err, "look at the log of the gateway, or at the proxy before it")];
  }
}

function closed(socket: Socket, finding: Finding): Finding {
  socket.destroy();
  return finding;
}

function failed(
  finding: Pick<Finding, "id" | "subject">,
  address: string,
  { timeout }: StepBounds,
  err: unknown,
  advice: string,
  what?: string,
): Finding {
  const { message, hint } = err instanceof CliError ? err : unreachable(address, timeout, err, what);
  return { ...finding, level: "problem", sentence: message, advice: hint ?? advice };
}

async function readIfNamed(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? undefined : readFile(file);
}
