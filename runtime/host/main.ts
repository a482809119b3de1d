import { createLog } from "../process/log.ts";
import { runService } from "../process/run-service.ts";
import { declareQueues } from "../queue-doctor/declare-queues.ts";
import { openAccess } from "./parts/access.ts";
import { openAutoscaler } from "./parts/autoscaler.ts";
import { openBroker } from "./parts/broker.ts";
import { openDoctor } from "./parts/doctor.ts";
import { openEngine } from "./parts/engine.ts";
import { openGateway } from "./parts/gateway.ts";
import { beginHistory, openHistory } from "./parts/history.ts";
import { openIdentity } from "./parts/identity.ts";
import { openOutgoing } from "./parts/outgoing.ts";
import { openPlace } from "./parts/place.ts";
import { openProvider } from "./parts/provider.ts";
import { openQueueWorkers } from "./parts/queue-workers.ts";
import { openReadiness } from "./parts/readiness.ts";
import { PartsInOrder } from "./parts/parts-in-order.ts";
import { readHostSettings } from "./read-host-settings.ts";
import { failureText } from "./report-failure.ts";
import { hostDrainTimeout } from "./settings.ts";
import { stopNotice, type UnderWay } from "./stop-notice.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const { settings, warnings } = readHostSettings(process.argv.slice(2));
const queues = declareQueues(settings);
const log = createLog("host", settings.logLevel, settings.logFormat);
for (const warning of warnings) say(warning);
let inFlight = (): UnderWay => ({ calls: 0, runs: 0 });
const countUnderWay = (count: () => UnderWay): void => void (inFlight = count);

await runService({
  log,
  drainTimeout: () => hostDrainTimeout(settings),
  onStop: () => {
    const notice = stopNotice(inFlight());
    if (notice !== undefined) say(notice);
  },
  reportFailure: (err) => {
    say(failureText(err));
    log.debug({ err }, "cannot start");
  },
  open: async (lifecycle, stop) => {
    await new PartsInOrder({ settings, queues, log, say, lifecycle, stop, countUnderWay })
      .with(openPlace)
      .with(openBroker)
      .with(openDoctor)
      .with(openHistory)
      .with(openEngine)
      .with(openIdentity)
      .with(openProvider)
      .with(openAutoscaler)
      .with(openOutgoing)
      .with(openQueueWorkers)
      .with(openAccess)
      .with(openGateway)
      .with(openReadiness)
      .with(beginHistory).opened;
  },
});
