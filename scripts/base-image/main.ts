import { Command } from "commander";

import { baseImageName } from "../../runtime/api/version.ts";
import {
  deliveryCredentials,
  deliveryOptions,
  leavesMachine,
  sendImages,
  withEngine,
  type TypedDelivery,
} from "../images/deliver-images.ts";
import { makeBaseImage, packBaseImage } from "./make-base-image.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = deliveryOptions(
  new Command("npm run base-image --").description(
    `Makes the image "${baseImageName}" of Weir's watchdog, Node.js and a few programs of this machine: functions can be made FROM it. Without --push and --tar the container engine gets it.`,
  ),
)
  .helpOption("--help", "show this")
  .action(async (typed: TypedDelivery) => {
    const making = `Making image "${baseImageName}" of this system's Node.js and libraries`;
    if (!leavesMachine(typed)) {
      await withEngine(typed, async (engine) => {
        say(making);
        await makeBaseImage(engine);
      });
      return say(`Image "${baseImageName}" is there; make others FROM it`);
    }
    const credentials = await deliveryCredentials(typed);
    say(making);
    await using made = await packBaseImage({ compressed: true });
    await sendImages(made, typed, credentials, say);
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
