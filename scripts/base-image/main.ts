import { Command, Option } from "commander";

import {
  deliveryCredentials,
  deliveryOptions,
  leavesMachine,
  sendImages,
  withEngine,
  type TypedDelivery,
} from "../images/deliver-images.ts";
import { baseVariants, variantNames, type BaseVariant } from "./base-variant.ts";
import { makeBaseImage, packBaseImage } from "./make-base-image.ts";

interface TypedBaseImage extends TypedDelivery {
  readonly variant: BaseVariant;
}

const { node, python } = baseVariants;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = deliveryOptions(
  new Command("npm run base-image --")
    .description(
      `Makes the image "${node.name}" of Weir's watchdog, ${node.content} of this machine: functions can be made FROM it. With --variant python it is "${python.name}", with this machine's Python as well. Without --push and --tar the container engine gets it.`,
    )
    .addOption(new Option("--variant <name>", "what is in it").choices(variantNames).default("node")),
)
  .helpOption("--help", "show this")
  .action(async (typed: TypedBaseImage) => {
    const { variant } = typed;
    const { name, content } = baseVariants[variant];
    const making = `Making image "${name}" of this system's ${content}`;
    if (!leavesMachine(typed)) {
      await withEngine(typed, async (engine) => {
        say(making);
        await makeBaseImage(engine, variant);
      });
      return say(`Image "${name}" is there; make others FROM it`);
    }
    const credentials = await deliveryCredentials(typed);
    say(making);
    await using made = await packBaseImage({ variant, compressed: true });
    await sendImages(made, typed, credentials, say);
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
