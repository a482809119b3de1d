import { flushCompileCache } from "node:module";
import { join } from "node:path";

import { drainGateway } from "../../gateway/drain-gateway.ts";
import { followBroker } from "../../process/follow-broker.ts";
import type { Provider } from "../../provider/build-provider.ts";
import { formatBanner } from "../banner.ts";
import { writeNote } from "../data-directory.ts";
import { firstPageUrl } from "./first-page-url.ts";
import type { HostStart } from "./host-start.ts";
import type { Broker } from "./broker.ts";
import type { OpenDoctor } from "./doctor.ts";
import type { ChosenEngine } from "./engine.ts";
import type { OpenGateway } from "./gateway.ts";
import type { HostPlace } from "./place.ts";
import type { OpenQueueWorkers } from "./queue-workers.ts";

type Given = HostStart & HostPlace & Broker & OpenDoctor & ChosenEngine & OpenQueueWorkers & OpenGateway;

/** Reports readiness, and prints the banner. */
export async function openReadiness(given: Given & { readonly provider: Provider }): Promise<object> {
  const { settings, log, admin, doctor, gateway } = given;
  const links = [given.doctorLink, given.gatewayLink, ...given.workerLinks];
  followBroker(
    { admin, log },
    links.map(({ state: trouble }) => trouble),
    () => doctor.problem,
  );
  admin.addCheck("provider", () => given.provider.check());
  admin.ready();
  given.lifecycle.onClose("readiness", () => {
    admin.drain();
    return drainGateway(gateway, settings.shutdownDelay);
  });
  await writeNote(given.layout.address, given.url);
  process.stdout.write(
    formatBanner({
      url: given.url,
      consoleUrl: firstPageUrl(settings),
      adminUrl: given.adminUrl,
      user: given.user,
      passwordFile: join(settings.data, "credentials", "basic-auth-password"),
      edition: settings.edition,
      provider: given.providerName,
      withoutEngine: given.engineTrouble,
      isolation: given.engine.isolation,
      durability: settings.durability,
      store: given.store,
      setAside: given.setAside,
    }),
  );
  // For the next start, in case this process is killed; does nothing without `NODE_COMPILE_CACHE`.
  flushCompileCache();
  return {};
}
