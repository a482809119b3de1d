import type { Finding } from "../../api/schemas/doctor-report.ts";
import { apiVersion, release } from "../../api/version.ts";
import { counted } from "../output/counted.ts";

/** A file that holds a secret. */
export interface SecretFile {
  readonly path: string;
  /** Its permission bits. */
  readonly mode: number;
}

const day = 24 * 3_600_000;
const fewDays = 14;
const mostSkew = 30_000;

/** A certificate that is trusted, by how long it is still valid. */
export function judgeCertificate(subject: string, validTo: number, now: number): Finding {
  const finding = { id: "tls", subject } as const;
  if (Number.isNaN(validTo)) return { ...finding, level: "ok", sentence: "Its certificate is trusted" };
  const days = Math.floor((validTo - now) / day);
  const until = new Date(validTo).toISOString().slice(0, 10);
  return days < fewDays
    ? {
        ...finding,
        level: "warning",
        sentence: `Its certificate is valid until ${until}, for ${counted(days, "more day")}`,
        advice: "renew it",
      }
    : { ...finding, level: "ok", sentence: `Its certificate is trusted and valid until ${until}` };
}

/** What to do about a certificate that is not trusted, by the reason of OpenSSL or Node.js. */
export function trustAdvice(distrust: Error): string {
  switch ("code" in distrust ? distrust.code : undefined) {
    case "CERT_HAS_EXPIRED":
      return "renew it";
    case "CERT_NOT_YET_VALID":
      return "set the clocks of this machine and of whoever issued it";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "correct --gateway, or issue it for this name";
    default:
      return "name a file with its authority with --ca-file, or renew it";
  }
}

/**
 * This machine's clock beside the `Date` of a reply; undefined if the reply has none. `sent` and `received` are Unix
 * milliseconds of this machine.
 */
export function judgeClock(date: string | undefined, sent: number, received: number): Finding | undefined {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there)) return undefined;
  // The header has whole seconds, and was written at some time in between.
  const [least, most] = [sent - there - 1_000, received - there];
  const skew = least > 0 ? least : Math.min(0, most);
  const finding = { id: "clock", subject: "clock" } as const;
  if (Math.abs(skew) <= mostSkew)
    return { ...finding, level: "ok", sentence: "The clocks of this machine and of the gateway agree" };
  const seconds = Math.round(Math.abs(skew) / 1_000);
  return {
    ...finding,
    level: "problem",
    sentence: `The clock of this machine is ${seconds} s ${skew > 0 ? "ahead of" : "behind"} the gateway's, over the ${mostSkew / 1_000} s that tokens tolerate`,
    advice: "set both by NTP",
  };
}

/** The gateway's `X-Api-Version` beside the version that this command knows. */
export function judgeVersion(version: string | undefined): Finding {
  const finding = { id: "versions", subject: "API" } as const;
  if (version === undefined)
    return {
      ...finding,
      level: "warning",
      sentence: "Replies have no X-Api-Version; is it a Weir gateway?",
      advice: "look at --gateway, or at the proxy before the gateway",
    };
  return majorOf(version) === majorOf(apiVersion)
    ? { ...finding, level: "ok", sentence: `The gateway has API ${version}, weir ${release} knows ${apiVersion}` }
    : {
        ...finding,
        level: "problem",
        sentence: `The gateway has API ${version}, and weir ${release} knows ${apiVersion} only`,
        advice: "use the release of weir that comes with the gateway",
      };
}

/** Files with secrets that others than their owner can read. */
export function judgeFiles(files: readonly SecretFile[]): readonly Finding[] {
  const open = files.filter(({ mode }) => (mode & 0o077) !== 0);
  if (open.length > 0)
    return open.map(({ path, mode }) => ({
      id: "files",
      level: "problem",
      subject: `file ${path}`,
      sentence: `It holds a secret, and its mode is ${mode.toString(8)}: expected 600, for its owner alone`,
      advice: `chmod 600 ${path}`,
    }));
  const sentence =
    files.length === 0 ? "No file with a secret is used" : "Only their owner can read those with a secret";
  return [{ id: "files", level: "ok", subject: "files", sentence }];
}

function majorOf(version: string): string {
  return version.split(".", 1)[0] ?? "";
}
