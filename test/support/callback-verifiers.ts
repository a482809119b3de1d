import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import { examples } from "./example-runs.ts";
import type { ReceivedCallback } from "./callback-sink.ts";

/** What a receiver trusts: the secret that the function names, or the platform's public keys. */
export interface Trusted {
  readonly secret?: string;
  readonly keys?: readonly { readonly kty: string; readonly kid: string; readonly x: string }[];
}

/** A callback as a receiver gets it at `now`, Unix seconds. */
export interface ReceiverCheck {
  readonly callback: Pick<ReceivedCallback, "headers" | "body">;
  readonly trusted: Trusted;
  readonly now: number;
}

/** Whether each of these is genuine. */
export type VerifyCallbacks = (checks: readonly ReceiverCheck[]) => Promise<readonly boolean[]>;

const directory = join(examples, "callback-receiver");
const script = `
import base64, json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from verify_callback import is_genuine
print(json.dumps([
    is_genuine(each["headers"], base64.b64decode(each["body"]), each.get("secret"), each.get("keys", ()), each["now"])
    for each in json.load(sys.stdin)
]))
`;

/** The verifier of the example in JavaScript. */
export const verifyInJavaScript: VerifyCallbacks = async (checks) => {
  const { isGenuine } = await import(pathToFileURL(join(directory, "verify-callback.js")).href);
  return checks.map(({ callback, trusted, now }) => isGenuine(callback, trusted, now));
};

/** The one in Python. */
export const verifyInPython: VerifyCallbacks = async (checks) => {
  const child = spawn("python3", ["-c", script, directory], { stdio: ["pipe", "pipe", "inherit"] });
  const given = checks.map(({ callback: { headers, body }, trusted, now }) => {
    return { headers, body: body.toString("base64"), ...trusted, now };
  });
  child.stdin.end(JSON.stringify(given));
  return JSON.parse(await text(child.stdout));
};

/** Why the one in Python cannot run on this machine; undefined when it can. */
export function pythonFault(): string | undefined {
  const { status } = spawnSync("python3", ["-c", "import cryptography"]);
  return status === 0 ? undefined : "python3 has no package cryptography here";
}
