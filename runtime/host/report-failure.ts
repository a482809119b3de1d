import { SettingsError } from "../settings/read-settings.ts";
import { PlatformError } from "../api/platform-error.ts";

/** What a person at the terminal reads when the start fails: a sentence for known errors, else the error's message. */
export function failureText(err: unknown): string {
  if (err instanceof SettingsError)
    return ["Cannot start:", ...err.problems.map((problem) => `  ${problem}`)].join("\n");
  if (err instanceof PlatformError) return err.message;
  if (!(err instanceof Error)) return String(err);
  if ("code" in err && err.code === "EADDRINUSE" && "port" in err) return busyPort(Number(err.port), "port");
  if ("code" in err && err.code === "EACCES" && "port" in err) {
    return `Cannot listen on port ${String(err.port)}: this user may not; choose one above 1023`;
  }
  if ("code" in err && err.code === "EADDRNOTAVAIL")
    return "Cannot listen: this machine does not have that address; choose another with --host";
  if ("code" in err && (err.code === "ENOTFOUND" || err.code === "EAI_AGAIN")) {
    return "Cannot listen: no address is known for that name; choose another with --host";
  }
  if ("code" in err && (err.code === "ENOSPC" || err.code === "EDQUOT"))
    return "Cannot start: the disk is full; make space or choose another directory with --data";
  return err.message.startsWith("Cannot ") ? err.message : `Cannot start: ${err.message}`;
}

/** The flags that set a port. */
export type PortFlag = "port" | "admin-port" | "console-port";

/** The sentence for a port that another program listens on. */
export function busyPort(port: number, flag: PortFlag): string {
  return `Cannot listen on port ${port}: another program uses it; stop that one or choose another with --${flag}`;
}
