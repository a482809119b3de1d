import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { ContainerDocument } from "../../runtime/adapters/machine/docker/engine/engine-types.ts";
import { findTool } from "../../scripts/debian-tool.ts";
import type { Starter } from "./container-by-weir.ts";
import type { BenchEngine } from "./container-engine.ts";
import { connected, type Pieces } from "./container-pieces.ts";

const run = promisify(execFile);
const network = `weir-bench-${process.pid}`;
const program = "fprocess=cat";

/** A started container, and how long each phase of its start took. */
interface Started extends Pick<Pieces, "run" | "create" | "start"> {
  readonly id: string;
}

/** Starts containers by `docker run -d` or, without the Docker CLI, by the two requests that it makes. */
export async function openByHand(engine: BenchEngine): Promise<Starter> {
  const { client, image } = engine;
  const docker = findTool("docker");
  const byCommand = async (command: string): Promise<Started> => {
    const began = performance.now();
    const args = ["--host", `unix://${engine.socket}`, "run", "-d", "--network", network, "-e", program, image];
    const { stdout } = await run(command, args);
    return { id: stdout.trim(), run: performance.now() - began };
  };
  const byRequests = async (): Promise<Started> => {
    const began = performance.now();
    const body = { Image: image, Env: [program], HostConfig: { NetworkMode: network } };
    const id = (await client.call<{ Id: string }>("POST", "/containers/create", { body })).body?.Id ?? "";
    const created = performance.now();
    await client.call("POST", `/containers/${id}/start`);
    return { id, create: created - began, start: performance.now() - created };
  };
  await client.call("POST", "/networks/create", { body: { Name: network, Driver: "bridge" } });
  return {
    name: docker === undefined ? "create and start by hand" : "docker run by hand",
    start: async () => {
      const began = performance.now();
      const { id, ...pieces } = await (docker === undefined ? byRequests() : byCommand(docker));
      try {
        const started = performance.now();
        const address = await addressOf(engine, id);
        const known = performance.now();
        const listens = await connected(address);
        await untilReady(address);
        const ready = performance.now();
        const times = { address: known - started, connect: listens - known, ready: ready - listens };
        return { ...pieces, ...times, whole: ready - began };
      } finally {
        await client.call("DELETE", `/containers/${id}`, { query: { force: "1", v: "1" } });
      }
    },
    close: async () => {
      await client.call("DELETE", `/networks/${network}`, { expected: [404] });
    },
  };
}

async function addressOf({ client }: BenchEngine, id: string): Promise<string> {
  const { body } = await client.call<ContainerDocument>("GET", `/containers/${id}/json`);
  return `${body?.NetworkSettings.Networks[network]?.IPAddress ?? ""}:8080`;
}

async function untilReady(address: string): Promise<void> {
  const response = await fetch(`http://${address}/_/ready`);
  await response.arrayBuffer();
  if (!response.ok) await untilReady(address);
}
