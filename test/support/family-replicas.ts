import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { MemoryReplicas } from "./memory/memory-replicas.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { freePort } from "./free-port.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { programPath } from "./watchdog-process.ts";

/** Programs that stand in for images of the OpenFaaS family. */
export type FamilyImage = "classic-watchdog" | "http-watchdog";

/** The program of an image. */
export function familyProgram(image: FamilyImage): string {
  return fileURLToPath(new URL(`mains/${image}.ts`, import.meta.url));
}

/** What such an image counts. */
export interface FamilyCounts {
  /** How often its program was started. */
  readonly starts: number;
  readonly connections: number;
}

/** Reads the counts of a replica, over one more connection. */
export async function familyCounts(address: string): Promise<FamilyCounts> {
  const response = await fetch(`http://${address}/_/health`);
  return (await response.json()) as FamilyCounts;
}

/** Runs the program of an image for each replica, as a local process that the provider takes for a container. */
export class FamilyReplicas extends MemoryReplicas {
  readonly #image: FamilyImage;
  readonly #running = new Map<string, { readonly child: ChildProcess; readonly address: string }>();

  constructor(image: FamilyImage) {
    super({ port: 8080, handlesProbes: false });
    this.#image = image;
  }

  override async start(spec: ReplicaSpec): Promise<Replica> {
    const port = await freePort();
    const replica = await super.start(spec);
    const child = spawn(process.execPath, [familyProgram(this.#image)], {
      env: { PATH: programPath, ...spec.environment, port: String(port) },
      stdio: ["ignore", "inherit", "inherit"],
    });
    killAtExit(child, { signal: "SIGTERM" });
    this.#running.set(replica.id, { child, address: `127.0.0.1:${port}` });
    return replica;
  }

  override async stop(id: string): Promise<void> {
    const found = this.#running.get(id);
    if (found !== undefined && isRunningChild(found.child)) {
      found.child.kill();
      await once(found.child, "exit");
    }
    this.#running.delete(id);
    await super.stop(id);
  }

  override async list(): Promise<readonly Replica[]> {
    return (await super.list()).flatMap((replica) => {
      const address = this.#running.get(replica.id)?.address;
      return address === undefined ? [] : [{ ...replica, address }];
    });
  }

  override async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id)));
    await super.close();
  }
}
