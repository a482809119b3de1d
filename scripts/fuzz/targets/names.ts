import { basename, dirname, join } from "node:path";

import { namespacePath, secretPath } from "../../../runtime/adapters/files/secret-files.ts";
import { checkImage } from "../../../runtime/adapters/machine/docker/images/image-reference.ts";
import { StartFailure } from "../../../runtime/adapters/machine/docker/containers/start-failure.ts";
import { logDirectory, olderLog, replicaOfLog } from "../../../runtime/adapters/machine/local/logs/log-files.ts";
import {
  functionKey,
  parseFunctionKey,
  queueStream,
  queueSubject,
} from "../../../runtime/adapters/nats/stream-names.ts";
import {
  isFunctionName,
  isNamespaceName,
  isQueueName,
  isSecretName,
  parseCallId,
} from "../../../runtime/api/grammar.ts";
import { keyPrefixes } from "../../../runtime/api/names.ts";
import { keyValue } from "../../../runtime/core/labels/keys.ts";
import { isLabelKey, isLabelValue } from "../../../runtime/core/labels/label-syntax.ts";
import { latin1, mustHold, orRefused, type FuzzTarget } from "../fuzz-target.ts";

const root = "/data/secrets";
/** A DNS label as defined by Kubernetes, and a qualified name. */
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Throws unless accepted names are safe everywhere, and all names of the grammars are accepted. */
export function checkName(text: string): void {
  const isLabel = text.length <= 63 && label.test(text);
  mustHold(isFunctionName(text) === isLabel, "function name: not what Kubernetes takes");
  mustHold(isNamespaceName(text) === isLabel, "namespace: not what Kubernetes takes");
  const parts = text.split(".");
  const isSubdomain = text.length <= 253 && parts.every((part) => part.length <= 63 && label.test(part));
  mustHold(isSecretName(text) === isSubdomain, "secret name: not what Kubernetes takes");

  if (isLabel) {
    const ref = { namespace: text, name: text };
    mustHold(isToken(text), "not safe in a subject");
    mustHold(functionKey(ref).split(".").length === 2, "the key of a function has more than two parts");
    const parsed = parseFunctionKey(functionKey(ref));
    mustHold(parsed?.name === text && parsed.namespace === text, "the key of a function is read otherwise");
    mustHold(queueSubject("default", ref).split(".").length === 4, "the subject of a call has other parts");
    mustHold(logDirectory(root, ref) === join(root, text, text), "logs lie elsewhere");
    mustHold(replicaOfLog(basename(olderLog(`${text}-1`))) === `${text}-1`, "a log is another replica's");
  }
  if (isQueueName(text)) mustHold(isToken(queueStream(text)), "the stream of a queue has no name the broker takes");
  const id = parseCallId(text);
  if (id !== undefined) mustHold(/^[0-9a-f-]{36}$/.test(id) && parseCallId(id) === id, "a call id is no UUID");
  checkPaths(text, isLabel, isSubdomain);
  checkKeys(text);
  checkImageName(text);
}

/** One token of a subject of the broker, and a name of a stream. */
function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(text);
}

function checkPaths(text: string, isLabel: boolean, isSubdomain: boolean): void {
  const directory = orRefused(() => namespacePath(root, text));
  mustHold((directory !== undefined) === isLabel, "a directory for what is no namespace");
  if (directory !== undefined) mustHold(dirname(directory) === root && basename(directory) === text, "way out");
  const path = orRefused(() => secretPath(root, { namespace: "functions", name: text }));
  mustHold((path !== undefined) === isSubdomain, "a file for what is no secret");
  if (path === undefined) return;
  mustHold(dirname(path) === `${root}/functions` && basename(path) === text, "way out of the secrets");
  mustHold(Buffer.byteLength(text) <= 255 && !text.startsWith("."), "no file name");
}

function checkKeys(text: string): void {
  const slash = text.indexOf("/");
  const [prefix, name] = slash === -1 ? [undefined, text] : [text.slice(0, slash), text.slice(slash + 1)];
  const isName = name.length <= 63 && qualified.test(name);
  const isPrefix =
    prefix === undefined || (prefix.length <= 253 && prefix.split(".").every((part) => label.test(part)));
  mustHold(isLabelKey(text) === (isName && isPrefix), "label key: not what Kubernetes takes");
  mustHold(isLabelValue(text) === (text === "" || (text.length <= 63 && qualified.test(text))), "label value");
  mustHold(keyValue({}, text) === undefined, "a key nobody sent has a value");
  mustHold(keyValue({ [keyPrefixes[1] + text]: "theirs" }, text) === "theirs", "a key does not count");
  mustHold(
    keyValue(Object.fromEntries(keyPrefixes.map((each) => [each + text, each])), text) === keyPrefixes[0],
    "ours does not win",
  );
}

function checkImageName(text: string): void {
  try {
    checkImage(text);
  } catch (err) {
    if (err instanceof StartFailure) return;
    throw err;
  }
  mustHold(/^[A-Za-z0-9][!-~]*$/.test(text) && !/\.\.|:\/\/|\/\/|[?#%\\]/.test(text), "an image that leaves its path");
}

export const names: FuzzTarget = {
  name: "names",
  promises:
    "a name that is accepted is safe as file, subject, stream and Kubernetes name, and none of these is refused",
  maxBytes: 600,
  words: [
    "..",
    "/",
    "\\",
    "\0",
    "\n",
    "%2f",
    "*",
    ">",
    "$JS",
    ".",
    "-",
    "_",
    "__proto__",
    "a",
    "A",
    "0",
    "\xe9",
    ":",
    "@",
  ],
  seeds: [
    "hello",
    "a-b.c-d",
    "../x",
    "__proto__",
    "com.service.scale/min_x",
    "0af76519-16cd-43dd-8448-EB211C80319C",
    "ghcr.io:5000/acme/hello:1@sha256:0123456789abcdef0123456789abcdef",
    "a".repeat(63),
    `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`,
  ],
  run: (input) => {
    checkName(latin1(input));
    checkName(new TextDecoder().decode(input));
  },
};
