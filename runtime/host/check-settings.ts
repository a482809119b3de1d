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
    problems.push(`max_inflight: edition "${edition}" runs 1 queued call at a time, got ${maxInflight * queueWorkers}; more need edition "pro"`);
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) problems.push("tls_cert and tls_key: expected both or none");
  if (port === adminPort && port !== 0) problems.push(`admin_port: expected another port than port, got ${adminPort}`);
  if (problems.length > 0) throw new SettingsError(problems);
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
