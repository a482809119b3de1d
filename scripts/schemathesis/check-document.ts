import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { runCommand } from "../../runtime/adapters/nats/server/run-command.ts";
import { untilHistoryReplies } from "../../test/support/history-replies.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../test/support/weir-process.ts";
import type { PythonPackages } from "../python-packages.ts";

/** The requirements of schemathesis, for `pythonPackages`. */
export const schemathesisRequirements = join(import.meta.dirname, "requirements.txt");

export interface DocumentCheckOptions {
  readonly packages: PythonPackages;
  readonly seconds: number;
  /** The same seed makes the same requests, as far as the time permits. */
  readonly seed: number;
  /** Only operations whose paths this regular expression matches; all when absent. */
  readonly paths?: string;
  /** Requests at the same time, of which some may be refused with 503; one when absent. */
  readonly workers?: number;
}

export interface DocumentCheck {
  /** Whether every response was one that the document promises, and none a defect of the platform. */
  readonly fits: boolean;
  /** Requests that were made. */
  readonly cases: number;
  /** Output of schemathesis, each failure with a curl line, and how to repeat the run. */
  readonly output: string;
}

/** Runs schemathesis against a Weir started for it, to check what its OpenAPI document promises. */
export async function checkDocument(options: DocumentCheckOptions): Promise<DocumentCheck> {
  await using directory = await tempDirectory("schemathesis");
  const weir = await startWeir({ data: directory.path, flags: ["--edition", "enterprise"], within: 60_000 });
  try {
    await deployWhatExamplesName(weir);
    await untilHistoryReplies(weir);
    const checked = await checkServed(weir, options);
    await weir.stop(60_000);
    return checked;
  } finally {
    await weir.close();
  }
}

/** The same against a Weir that serves. */
export async function checkServed(weir: WeirProcess, options: DocumentCheckOptions): Promise<DocumentCheck> {
  await using work = await tempDirectory("schemathesis-work");
  const { stdout, stderr, code } = await runSchemathesis(weir, work.path, options);
  const again = `The same run again: npm run schemathesis -- --seconds ${options.seconds} --seed ${options.seed}`;
  const cases = Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0);
  return { fits: code === 0, cases, output: `${stdout}${stderr}\n${again}\n` };
}

async function runSchemathesis(weir: WeirProcess, directory: string, options: DocumentCheckOptions) {
  const { packages, seconds, seed, paths, workers } = options;
  const program = join(packages.directory, "bin", "schemathesis");
  const config = ["--config-file", await writeConfig(directory, workers !== undefined)];
  const limits = ["--max-time", String(seconds), "--seed", String(seed), "--request-timeout", "20"];
  if (workers !== undefined) limits.push("--workers", String(workers));
  // The document does not promise the replies of functions, and a stream of changes does not end.
  const without = [
    "--exclude-path-regex",
    "^/(function/|system/watch$)",
    ...(paths === undefined ? [] : ["--include-path-regex", paths]),
  ];
  const looks = ["--no-color", "--continue-on-failure", "--warnings", "off"];
  const access = { WEIR_URL: weir.url, WEIR_USER: weir.user, WEIR_PASSWORD: weir.password };
  const command = [program, ...config, "run", `${weir.url}/openapi.json`, ...limits, ...without, ...looks];
  return runCommand("python3", command, {
    // It leaves files behind in its working directory.
    directory,
    environment: { ...packages.environment, ...access },
    timeout: (seconds + 120) * 1_000,
  });
}

/** Path of the configuration; `mayRefuse`: of many requests at a time some may be refused with 503. */
async function writeConfig(directory: string, mayRefuse: boolean): Promise<string> {
  const usual = join(import.meta.dirname, "schemathesis.toml");
  if (!mayRefuse) return usual;
  const more = `
[[operations]]
include-path-regex = "."
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
`;
  const file = join(directory, "schemathesis.toml");
  await writeFile(file, `${await readFile(usual, "utf8")}${more}`);
  return file;
}

/** Creates what the document's examples name, so that requests made from them find it. */
async function deployWhatExamplesName({ url, authorization }: WeirProcess): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Cannot prepare POST ${path}: ${response.status} ${await response.text()}`);
  };
  await send("/system/secrets", { name: "api-key", value: "s3cret" });
  await send("/system/functions", { service: "echo", image: "echo:1", envProcess: "cat" });
}
