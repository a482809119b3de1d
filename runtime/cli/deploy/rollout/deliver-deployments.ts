import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import type { CommandContext } from "../../command-context.ts";
import { awaitReady, type SentDeployment } from "./await-ready.ts";
import { rolloutState } from "./rollout-state.ts";
import { sendDeployment, type DeliveredDeployment } from "./send-deployment.ts";
import { settleEach } from "../settle-each.ts";

/** A deployment that is sent, or one that is there already: `status` is the function as it was seen then. */
export type PlannedDelivery =
  | { readonly kind: "send"; readonly deployment: FunctionDeployment }
  | { readonly kind: "there"; readonly deployment: FunctionDeployment; readonly status: FunctionStatus };

/** Functions as the gateway shows them at the end, and why others are not among them. */
interface DeliveryEnd {
  readonly statuses: readonly FunctionStatus[];
  readonly errors: readonly CliError[];
}

/** Milliseconds until the deployments are ready: the commands that prepare a folder may take five minutes. */
const readyTimeout = 360_000;

/** Sends deployments, four at a time, and unless `wait` is false waits until they and those that are there are ready. */
export async function deliverDeployments(
  context: CommandContext,
  gateway: GatewayClient,
  deliveries: readonly PlannedDelivery[],
  wait: boolean,
): Promise<DeliveryEnd> {
  const { output, terminal } = context;
  const errors: CliError[] = [];
  const fail = (error: CliError): void => {
    errors.push(error);
    output.warn(error.message);
  };
  const pending: SentDeployment[] = [];
  const statuses: FunctionStatus[] = [];
  for (const settled of await settleEach(deliveries, (delivery) => deliver(gateway, delivery))) {
    if (settled.kind === "failed") fail(settled.error);
    else if (!wait || isReady(settled.result)) statuses.push(settled.result.status);
    else pending.push(settled.result);
  }
  const progress = (line: string): void => output.note(line);
  const { signal } = terminal;
  const waited = { gateway, timeout: context.timeout(readyTimeout), signal, progress };
  for await (const outcome of awaitReady(pending, waited)) {
    if (outcome instanceof CliError) fail(outcome);
    else statuses.push(outcome);
  }
  return { statuses, errors };
}

/** Whether it was ready before. */
function isReady({ status, generation, sentAt }: DeliveredDeployment): boolean {
  return sentAt === undefined && rolloutState(status, generation).kind === "ready";
}

async function deliver(gateway: GatewayClient, delivery: PlannedDelivery): Promise<DeliveredDeployment> {
  const { deployment } = delivery;
  if (delivery.kind === "send") return sendDeployment(gateway, deployment);
  const { status } = delivery;
  return { deployment, status, generation: status.generation, sentAt: undefined };
}
