import { instanceFilter, parseLabels, type LabelledReplica } from "./container-labels.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { ContainerDocument, ContainerSummary } from "../engine/engine-types.ts";

/** A container that an earlier process of the instance left running. */
export interface RunningContainer {
  readonly facts: LabelledReplica;
  readonly container: ContainerDocument;
}

/**
 * Removes the containers of `instance` that do not run, after `keepLog` kept what they wrote, and returns those that
 * do. Rejects when the engine is unavailable.
 */
export async function takeOver(
  engine: EngineClient,
  instance: string,
  keepLog: (facts: LabelledReplica, container: string) => Promise<void>,
): Promise<RunningContainer[]> {
  const found = await Promise.all(
    (await containersOf(engine, instance)).map(async ({ Id: id, Labels: labels, State: state }) => {
      const facts = parseLabels(labels);
      const { body: container } = await engine.call<ContainerDocument>("GET", `/containers/${id}/json`, {
        expected: [404],
      });
      if (facts !== undefined && state === "running" && container?.State.Running === true) return { facts, container };
      if (facts !== undefined) await keepLog(facts, id);
      await removeContainer(engine, id);
      return undefined;
    }),
  );
  return found.filter((running) => running !== undefined);
}

/** Removes every container of `instance` by force. */
export async function removeContainers(engine: EngineClient, instance: string): Promise<void> {
  await Promise.all((await containersOf(engine, instance)).map(({ Id: id }) => removeContainer(engine, id)));
}

async function containersOf(engine: EngineClient, instance: string): Promise<readonly ContainerSummary[]> {
  const query = { all: "1", filters: instanceFilter(instance) };
  return (await engine.call<ContainerSummary[]>("GET", "/containers/json", { query })).body ?? [];
}

async function removeContainer(engine: EngineClient, id: string): Promise<void> {
  await engine.call("DELETE", `/containers/${id}`, { query: { force: "1", v: "1" }, expected: [404, 409] });
}
