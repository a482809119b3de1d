import { freePort } from "../../test/support/free-port.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startWeir } from "../../test/support/weir-process.ts";
import { compiledModules, type BenchProcess } from "./bench-process.ts";
import { openBenchBroker, type BrokerUser } from "./bench-broker.ts";

/** The environment that one kind of process needs. */
export interface ProcessRoom {
  /** Starts one; the caller stops it before the room is closed. */
  start(): Promise<Pick<BenchProcess, "pid" | "stop">>;
  close(): Promise<void>;
}

/** A provisioned broker without functions or calls. */
export async function openBrokerRoom(name: BrokerUser): Promise<ProcessRoom> {
  const broker = await openBenchBroker({ slots: 1 });
  return {
    start: async () => broker.start(name, name === "gateway" ? ["--port", String(await freePort())] : []),
    close: () => broker.close(),
  };
}

/** An empty environment: `npm start` starts all that it needs. */
export async function openMachineRoom(): Promise<ProcessRoom> {
  return {
    start: async () => {
      const data = await tempDirectory("bench-data");
      const weir = await startWeir({ data: data.path, environment: compiledModules }).catch(async (err: unknown) => {
        await data.remove();
        throw err;
      });
      const stop = async (): Promise<void> => {
        try {
          await weir.stop();
        } finally {
          await data.remove();
        }
      };
      return { pid: weir.pid, stop };
    },
    close: async () => {},
  };
}
