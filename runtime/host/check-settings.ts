import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

import { editions } from "../api/editions.ts";
import { SettingsError } from "../api/read-settings.ts";
import type { HostSettings } from "./settings.ts";

/**
 * What no single setting can tell: pairs that belong together, limits of the edition.
 * @throws SettingsError with every problem at once
 */
export function checkSettings(settings: HostSettings): void {
  const problems: string[] = [];
  const { edition, maxInflight, queueWorkers, tlsCert, tlsKey, port, adminPort } = settings;
  if (editions[edition].maxInflight === "one" && maxInflight * queueWorkers > 1) {
    problems.push(
      `max_inflight: edition "${edition}" runs 1 queued call at a time, got ${maxInflight * queueWorkers}; more need edition "pro"`,
    );
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) problems.push("tls_cert and tls_key: expected both or none");
  else if (tlsCert !== undefined && tlsKey !== undefined) problems.push(...tlsProblems(tlsCert, tlsKey));
  if (port === adminPort && port !== 0) problems.push(`admin_port: expected another port than port, got ${adminPort}`);
  if (problems.length > 0) throw new SettingsError(problems);
}

/** The files are read again by who serves with them. */
function tlsProblems(certFile: string, keyFile: string): string[] {
  const cert = readPem("tls_cert", certFile);
  const key = readPem("tls_key", keyFile);
  const problems = [cert, key].flatMap((read) => ("problem" in read ? [read.problem] : []));
  if ("problem" in cert || "problem" in key) return problems;
  try {
    createSecureContext({ cert: cert.pem, key: key.pem });
    return [];
  } catch (err) {
    const why = err instanceof Error ? err.message : String(err);
    return [
      `tls_cert and tls_key: expected PEM files of a certificate and its key, got "${certFile}" and "${keyFile}" (${why})`,
    ];
  }
}

function readPem(name: string, file: string): { readonly pem: Buffer } | { readonly problem: string } {
  try {
    return { pem: readFileSync(file) };
  } catch (err) {
    const why = err instanceof Error && "code" in err ? String(err.code) : String(err);
    return { problem: `${name}: expected a file that can be read, got "${file}" (${why})` };
  }
}

/** What a person should know though it stops nothing. */
export function warnings(settings: Pick<HostSettings, "host" | "tlsCert">): string[] {
  if (settings.tlsCert !== undefined || isLoopback(settings.host)) return [];
  return [
    `Warning: --host ${settings.host} without TLS: passwords and calls can be read and changed on the way; use --tls-cert and --tls-key`,
  ];
}

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
