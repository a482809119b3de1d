import { join } from "node:path";

import { runCommand } from "../../runtime/adapters/nats/server/run-command.ts";
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
  await using work = await tempDirectory("schemathesis-work");
  const weir = await startWeir({ data: directory.path, flags: ["--edition", "enterprise"], within: 60_000 });
  try {
    await deployWhatExamplesName(weir);
    const { stdout, stderr, code } = await runSchemathesis(weir, work.path, options);
    const again = `The same run again: npm run schemathesis -- --seconds ${options.seconds} --seed ${options.seed}`;
    const cases = Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0);
    await weir.stop(60_000);
    return { fits: code === 0, cases, output: `${stdout}${stderr}\n${again}\n` };
  } finally {
    await weir.close();
  }
}

function runSchemathesis(weir: WeirProcess, directory: string, { packages, seconds, seed }: DocumentCheckOptions) {
  const program = join(packages.directory, "bin", "schemathesis");
  const config = ["--config-file", join(import.meta.dirname, "schemathesis.toml")];
  const limits = ["--max-time", String(seconds), "--seed", String(seed), "--request-timeout", "20"];
  // The document does not promise the replies of functions.
  const without = ["--exclude-path-regex", "^/function/"];
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
