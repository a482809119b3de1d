import { buildImages } from "../../build/build-images.ts";
import type { BuilderName } from "../../build/builders.ts";
import type { MadeImage } from "../../build/make-image.ts";
import { readImageBuild } from "../../build/read-image-build.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { chooseFunctions, type ChoiceOptions } from "../../deploy/plan/choose-functions.ts";
import { builderOption, choiceOptions, registryOption } from "../../deploy/deploy-options.ts";
import { resultOfEach } from "../../deploy/settle-each.ts";

interface BuildCommandOptions extends ChoiceOptions {
  readonly builder?: BuilderName;
  readonly registry?: string;
  readonly push?: boolean;
  readonly quiet?: boolean;
}

/** An image that `weir build` made, beside its function. */
interface BuiltImage extends MadeImage {
  readonly name: string;
}

/** `weir build`. */
export const buildCommand: CommandSpec<BuildCommandOptions> = {
  about:
    "Builds the images of the functions in weir.yaml with docker or podman. Their tags are made of their content: an image that is there is not built again.",
  arguments: [{ name: "[name...]", about: "functions of weir.yaml; all that have no image by default" }],
  options: [...choiceOptions, builderOption, registryOption, { flags: "--push", about: "push the images, too" }],
  groups: ["output"],
  examples: [
    { line: "weir build", about: "The images of all functions in weir.yaml" },
    { line: "weir build hello --push --registry ghcr.io/acme", about: "One image, which clusters can pull then" },
  ],
  run: async (context, options, named) => {
    const { output, terminal } = context;
    const { project, names, left } = await chooseFunctions(terminal, named, options);
    for (const sentence of left) output.warn(sentence);
    const { builder, registry, push = false, quiet = false } = options;
    const { functions } = project.content;
    const toBuild = names.filter((name) => functions[name]?.image === undefined || functions[name].build !== undefined);
    const builds = await resultOfEach(toBuild, async (name) => {
      const failure = `Cannot build "${name}"`;
      const build = await readImageBuild(functions[name] ?? {}, {
        name,
        directory: project.directory,
        registry,
        failure,
      });
      if (push && !build.hasRegistry)
        throw usageError(`Cannot push "${name}": no registry is set; set build.registry or --registry`);
      return build;
    });
    const made = await buildImages(context, builds, { builder, push, quiet });
    const rows = [...made].map(([name, image]): BuiltImage => ({ name, ...image }));
    await output.list({
      rows,
      columns: [
        { title: "NAME", cell: ({ name }) => name },
        { title: "IMAGE", cell: ({ image }) => image },
        { title: "BUILT", cell: ({ built }) => (built ? "yes" : "was there") },
        { title: "PUSHED", cell: ({ pushed }) => (pushed ? "yes" : "no") },
      ],
      name: ({ image }) => image,
    });
  },
};
