import { setTimeout as pause } from "node:timers/promises";

import { buildImages } from "../build/build-images.ts";
import type { BuilderName } from "../build/builders.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { readOne } from "../client/read-reply.ts";
import { infoReply } from "../client/reply-kinds.ts";
import type { CommandContext } from "../command-context.ts";
import { compareDeployments } from "../deploy/plan/compare-deployments.ts";
import { hasToBeSent } from "../deploy/plan/compared-deployment.ts";
import { deployTarget } from "../deploy/plan/deploy-target.ts";
import { awaitReady, type SentDeployment } from "../deploy/rollout/await-ready.ts";
import { rolloutState } from "../deploy/rollout/rollout-state.ts";
import { sendDeployment } from "../deploy/rollout/send-deployment.ts";
import { exitCode } from "../exit-code.ts";
import type { Project } from "../project/project.ts";
import type { DevStream } from "./dev-stream.ts";
import type { FollowedLogs } from "./followed-logs.ts";

/** What every deployment of one `weir dev` has in common. */
export interface DevSession {
  readonly context: CommandContext;
  readonly gateway: GatewayClient;
  readonly stream: DevStream;
  readonly logs: FollowedLogs;
  readonly namespaceFlag: string | undefined;
  readonly registry: string | undefined;
  readonly builder: BuilderName | undefined;
  readonly quiet: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Milliseconds until a deployment is ready; `prepare` may take five minutes. */
const readyTimeout = 360_000;
/** Milliseconds between two attempts to reach a gateway that is away. */
const awayPause = 1_000;

/**
 * Deploys one function as it is saved now, and says what becomes of it; while the gateway is away it waits. When
 * `superseded` aborts, a build is ended and nothing more is said: the next save is deployed in its place.
 * @throws CliError exit code 130 when the command is ended
 */
export async function deploySaved(
  session: DevSession,
  project: Project,
  name: string,
  superseded: AbortSignal,
): Promise<void> {
  const { context, stream } = session;
  const { signal: stopped } = context.terminal;
  const signal = AbortSignal.any([stopped, superseded]);
  const sayWaiting = (why: string): void => stream.say(`waiting: ${why}`, name);
  try {
    await onceReached(() => deploy(session, project, name, signal), signal, sayWaiting);
  } catch (err) {
    if (superseded.aborted && !stopped.aborted && (err instanceof CliError || isAbort(err))) return;
    if (stopped.aborted || !(err instanceof CliError)) throw err;
    stream.say(`failed: ${err.message}${err.hint === undefined ? "" : `\nTry: ${err.hint}`}`, name);
  }
}

/** The same again until the gateway is there; `sayWaiting` gets each new reason why it is not. */
async function onceReached(
  act: () => Promise<void>,
  signal: AbortSignal,
  sayWaiting: (why: string) => void,
): Promise<void> {
  for (let said: string | undefined; ; await pause(awayPause, undefined, { signal })) {
    try {
      return await act();
    } catch (err) {
      if (signal.aborted || !(err instanceof CliError) || err.exit !== exitCode.unavailable) throw err;
      if (err.message !== said) sayWaiting(err.message);
      said = err.message;
    }
  }
}

async function deploy(session: DevSession, project: Project, name: string, signal: AbortSignal): Promise<void> {
  const { builder, context, gateway, logs, now, quiet, stream } = session;
  const startedAt = now();
  const info = await readOne(gateway, "/system/info", infoReply);
  const target = deployTarget(info, gateway.address);
  const place = {
    target,
    namespaceFlag: session.namespaceFlag,
    namespace: await context.namespace(),
    registry: session.registry,
  };
  for (const compared of await compareDeployments(gateway, info, { project, names: [name], left: [] }, place)) {
    const { build, deployment } = compared;
    const { namespace, service } = deployment;
    const shown = namespace === undefined || namespace === info.functionNamespace ? service : `${service}.${namespace}`;
    const address = `${gateway.address}/function/${shown}`;
    const builds = build !== undefined && hasToBeSent(compared, true) ? [build] : [];
    if (builds.length > 0) stream.say("building", name);
    const cancelled = { ...context, terminal: { ...context.terminal, signal } };
    const made = await buildImages(cancelled, builds, { builder, push: target !== "engine", quiet });
    if (signal.aborted) return;
    const there = hasToBeSent(compared, made.get(name)?.built === true) ? undefined : compared.before;
    // One that is there and not ready was sent by a save that this one superseded.
    if (there !== undefined && rolloutState(there, there.generation).kind === "ready") {
      logs.follow(name, namespace, startedAt);
      stream.say(`no change; runs at ${address}`, name);
      return;
    }
    if (there === undefined) stream.say("deploying", name);
    const sent: SentDeployment =
      there === undefined
        ? await sendDeployment(gateway, deployment)
        : { deployment, generation: there.generation, sentAt: undefined };
    logs.follow(name, namespace, sent.sentAt === undefined ? startedAt : Date.parse(sent.sentAt));
    const progress = (): void => {};
    for await (const outcome of awaitReady([sent], { gateway, timeout: readyTimeout, signal, progress })) {
      if (signal.aborted) return;
      if (outcome instanceof CliError) return stream.say(`failed: ${withoutLog(outcome.message)}`, name);
      stream.say(`ready in ${now() - startedAt} ms at ${address}`, name);
    }
  }
}

/** The first line of a sentence that quotes the log, which is shown anyway. */
function withoutLog(sentence: string): string {
  return sentence.split("\n", 1).join("");
}

function isAbort(err: unknown): boolean {
  return err instanceof Error && err.name === "AbortError";
}
