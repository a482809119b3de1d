import { autoscalerAdapters } from "../../adapters/nats/open-nats.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import { buildAutoscalerMetrics } from "../../autoscaler/autoscaler-metrics.ts";
import { buildAutoscaler } from "../../autoscaler/build-autoscaler.ts";
import type { HostStart } from "./host-start.ts";
import type { Broker } from "./broker.ts";
import type { ChosenEngine } from "./engine.ts";
import type { HostPlace } from "./place.ts";

/** Opened before the parts that report to it, so that it receives their first reports. */
export async function openAutoscaler(given: HostStart & HostPlace & Broker & ChosenEngine): Promise<object> {
  const autoscaler = buildAutoscaler({
    settings: given.settings,
    ...autoscalerAdapters(await given.connect(natsUser.autoscaler)),
    usage: given.engine.usage,
    metrics: buildAutoscalerMetrics(given.admin.registry),
    log: given.log.child({ part: "autoscaler" }),
  });
  given.lifecycle.onClose("autoscaler", () => autoscaler.close());
  await autoscaler.open();
  return {};
}
