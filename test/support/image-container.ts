import { eventually } from "./eventually.ts";
import type { TestDockerEngine } from "./shared-docker-engine.ts";

/** Options of a container of one of our images, in addition to the restrictions that clusters demand. */
export interface ImageContainerOptions {
  readonly image: string;
  readonly args: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  /** Host path by path in the container, mounted read-only. */
  readonly files?: Readonly<Record<string, string>>;
  /** Directories in memory that its user may write to. */
  readonly memory?: readonly string[];
}

/** A running container. */
export interface ImageContainer {
  /** Waits for a line with `words`; `took`: milliseconds from the start of the process to the line's own `time`. */
  until(words: string): Promise<{ readonly took: number; readonly line: Readonly<Record<string, unknown>> }>;
  /** Commands of its processes, the first one first. */
  commands(): Promise<string[]>;
  /** Its stdout and stderr so far. */
  output(): string;
  /** Sends SIGTERM; resolves with its exit code. */
  stop(): Promise<number>;
  remove(): Promise<void>;
}

const user = "65532:65532";
const startTimeout = 60_000;

/** Runs a container under the restricted level of pod security, with a read-only root, on the host's network. */
export async function runImage({ client }: TestDockerEngine, options: ImageContainerOptions): Promise<ImageContainer> {
  const { body } = await client.call<{ Id: string }>("POST", "/containers/create", {
    body: {
      Image: options.image,
      Cmd: options.args,
      User: user,
      Env: Object.entries(options.settings ?? {}).map(([key, value]) => `${key}=${value}`),
      HostConfig: {
        NetworkMode: "host",
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Binds: Object.entries(options.files ?? {}).map(([inside, path]) => `${path}:${inside}:ro`),
        Tmpfs: Object.fromEntries((options.memory ?? []).map((path) => [path, "uid=65532,gid=65532,mode=700"])),
      },
    },
  });
  const path = `/containers/${body?.Id}`;
  await client.call("POST", `${path}/start`);
  const chunks: Buffer[] = [];
  const logs = await client.stream("GET", `${path}/logs`, { query: { stdout: "1", stderr: "1", follow: "1" } });
  logs.on("data", (chunk: Buffer) => chunks.push(chunk));
  logs.on("error", () => {});
  const output = (): string => textOf(Buffer.concat(chunks));
  return {
    output,
    until: async (words) => {
      const text = await eventually(
        () =>
          output()
            .split("\n")
            .find((each) => each.includes(words)) ?? throwOutput(output()),
        { within: startTimeout, what: `"${words}" of ${options.image} ${options.args.join(" ")}` },
      );
      const line = JSON.parse(text) as { readonly time: number };
      const state = await client.call<{ State: { StartedAt: string } }>("GET", `${path}/json`);
      return { took: new Date(line.time).getTime() - Date.parse(state.body?.State.StartedAt ?? ""), line };
    },
    commands: async () => {
      const top = await client.call<{ Processes: string[][] }>("GET", `${path}/top`, {
        query: { ps_args: "-o pid,args" },
      });
      return (top.body?.Processes ?? []).map((columns) => columns.slice(1).join(" "));
    },
    stop: async () => {
      await client.call("POST", `${path}/kill`, { query: { signal: "SIGTERM" } });
      const { body: end } = await client.call<{ StatusCode: number }>("POST", `${path}/wait`);
      return end?.StatusCode ?? -1;
    },
    remove: async () => {
      logs.destroy();
      await client.call("DELETE", path, { query: { force: "1" }, expected: [404] });
    },
  };
}

/** Stdout and stderr come in frames, each after eight bytes that end with its length. */
function textOf(stream: Buffer): string {
  const chunks: Buffer[] = [];
  for (let at = 0; at + 8 <= stream.length;) {
    const end = at + 8 + stream.readUInt32BE(at + 4);
    chunks.push(stream.subarray(at + 8, end));
    at = end;
  }
  return Buffer.concat(chunks).toString();
}

/** Throws the output, so that a timeout shows it. */
function throwOutput(output: string): never {
  throw new Error(`it said: ${output.slice(-500)}`);
}
