import { Command, Option } from "commander";

import { natsImageName, weirImageName } from "../../runtime/api/version.ts";
import { deliveryCredentials, deliveryOptions, leavesMachine, sendImages, withEngine } from "./deliver-images.ts";
import type { TypedDelivery } from "./deliver-images.ts";
import { loadImages } from "./load-images.ts";
import { imageKinds, makeImages, type ImageKind } from "./make-images.ts";

interface Typed extends TypedDelivery {
  readonly tag?: string;
  readonly only?: ImageKind;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = deliveryOptions(
  new Command("npm run images --").description(
    `Makes the images "${weirImageName}" and "${natsImageName}" of this machine's Node.js, its libraries and nats-server. Without --push and --tar the container engine gets them.`,
  ),
)
  .option("--tag <version>", "instead of the versions")
  .addOption(new Option("--only <image>", "one of them").choices([...imageKinds]))
  .helpOption("--help", "show this")
  .action(async (typed: Typed) => {
    checkTag(typed.tag);
    const { tag, only } = typed;
    const credentials = await deliveryCredentials(typed);
    await using made = await makeImages({
      say,
      ...(only === undefined ? {} : { kinds: [only] }),
      ...(tag === undefined ? {} : { tag }),
    });
    await sendImages(made, typed, credentials, say);
    if (leavesMachine(typed)) return;
    await withEngine(typed, (engine) => loadImages(made.directory, engine));
    say("Loaded into the container engine");
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}

function checkTag(tag: string | undefined): void {
  if (tag !== undefined && !/^\w[\w.-]{0,127}$/.test(tag))
    throw new Error(`Cannot use tag "${tag}": expected letters, digits, ".", "_" and "-", at most 128`);
}
