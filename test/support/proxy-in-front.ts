import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { installedTool } from "../../scripts/debian-tool.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { codeBlocks } from "./markdown-blocks.ts";
import { proxyPrograms, type ProxyKind, type ProxyLine } from "./proxy-programs.ts";
import { tempDirectory } from "./temp-directory.ts";

/** A gateway that a proxy may send requests to. */
export interface ProxiedGateway {
  readonly port: number;
  /** The port of `/readyz`, which haproxy checks. */
  readonly adminPort?: number;
  /** Whether it is out of service: nginx must send it nothing. */
  readonly down?: boolean;
}

export interface ProxyOptions {
  readonly gateways: readonly [ProxiedGateway, ...ProxiedGateway[]];
  /** The port that the page's configuration leads to: `8080` (default) for calls, `8081` for the console. */
  readonly shownPort?: ShownPort;
}

type ShownPort = "8080" | "8081";

/** A proxy as a process of the test, with the configuration of `docs/reference/proxies.md` on other ports. */
export interface FrontProxy extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Its access log so far. */
  lines(): ProxyLine[];
  /**
   * Reloads its configuration, with other gateways if given; resolves when new processes serve, while old ones still
   * drain.
   */
  reload(gateways?: ProxyOptions["gateways"]): Promise<void>;
  /** Number of processes that a reload replaced and that still drain. */
  retiring(): number;
  close(): Promise<void>;
}

const page = join(import.meta.dirname, "../../docs/reference/proxies.md");
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const reasons = new Map<ProxyKind, string | undefined>();

/** Why tests with this proxy cannot run here, written to stderr once; undefined if they can. Installs it. */
export function noProxy(kind: ProxyKind): string | undefined {
  if (!reasons.has(kind)) {
    const found = installedTool(kind, kind, say) !== undefined;
    if (!found) say(`Skipped: tests with ${kind} in front; it is not to be had (Debian: apt-get install ${kind})`);
    reasons.set(kind, found ? undefined : `"${kind}" is missing`);
  }
  return reasons.get(kind);
}

/** The configuration exactly as the page shows it. */
export function shownConfig(kind: ProxyKind, port: ShownPort = "8080"): string {
  const blocks = codeBlocks(readFileSync(page, "utf8")).filter(({ language }) => language === kind);
  const block = blocks.find(({ text }) => text.includes(`127.0.0.1:${port}`));
  if (block === undefined) throw new Error(`Cannot find configuration of ${kind}: the page shows none`);
  return block.text;
}

/** Starts a proxy and resolves when it accepts connections. */
export async function openProxy(kind: ProxyKind, options: ProxyOptions): Promise<FrontProxy> {
  const directory = await tempDirectory(kind);
  const port = await freePort();
  const { shownPort = "8080" } = options;
  const shown = shownConfig(kind, shownPort);
  const program = proxyPrograms[kind];
  const configure = (gateways: ProxyOptions["gateways"]): Promise<void> =>
    writeFile(
      join(directory.path, "config"),
      `${program.config(filled({ kind, shown, shownPort, port }, gateways), directory.path)}\n`,
    );
  await configure(options.gateways);
  const running = program.run(directory.path);
  const close = async (): Promise<void> => {
    await running.close();
    await directory.remove();
  };
  try {
    await eventually(() => running.ended() || accepts(port), { what: `${kind} to accept connections` });
    if (running.ended())
      throw new Error(`Cannot start ${kind}: ${await readFile(join(directory.path, "errors"), "utf8")}`);
  } catch (err) {
    await close();
    throw err;
  }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    lines: () =>
      readFileSync(join(directory.path, "access"), "latin1")
        .split("\n")
        .flatMap((line) => program.parse(line) ?? []),
    reload: async (gateways) => {
      if (gateways !== undefined) await configure(gateways);
      await running.reload();
    },
    retiring: () => running.retiring(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface ShownPlace {
  readonly kind: ProxyKind;
  readonly shown: string;
  readonly shownPort: ShownPort;
  /** Where the proxy listens. */
  readonly port: number;
}

/** Replaces the page's ports by the test's, and the page's line of a gateway by one for each gateway. */
function filled({ kind, shown, shownPort, port }: ShownPlace, gateways: readonly ProxiedGateway[]): string {
  const lines = shown.split("\n");
  const listen = replaced(lines, kind === "nginx" ? "listen 80;" : "bind :80", (line) => [
    line.replace(kind === "nginx" ? "80" : ":80", `127.0.0.1:${port}`),
  ]);
  const served = replaced(listen, `127.0.0.1:${shownPort}`, (line) =>
    gateways.map((gateway, index) =>
      line
        .replace(`${shownPort};`, gateway.down === true ? `${shownPort} down;` : `${shownPort};`)
        .replace(shownPort, String(gateway.port))
        .replace("gateway-1", `gateway-${index + 1}`)
        .replace(/ check port 8082(.*)/, gateway.adminPort === undefined ? "" : ` check port ${gateway.adminPort}$1`),
    ),
  );
  return served.join("\n");
}

function replaced(lines: readonly string[], part: string, by: (line: string) => readonly string[]): string[] {
  if (lines.filter((line) => line.includes(part)).length !== 1) {
    throw new Error(`Cannot fill in configuration: it does not say "${part}" once`);
  }
  return lines.flatMap((line) => (line.includes(part) ? by(line) : [line]));
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } finally {
    socket.destroy();
  }
}
