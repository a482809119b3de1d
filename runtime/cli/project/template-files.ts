import { templateText } from "./template-text.ts";

/** What `weir init` can begin a function with. */
export const templateNames = ["node", "python", "go", "shell", "dockerfile"] as const;
export type TemplateName = (typeof templateNames)[number];

/** One file of a new project. */
export interface TemplateFile {
  /** Path in the project. */
  readonly path: string;
  readonly text: string;
}

/** Stands for the function's name in every file. */
const placeholder = "my-function";

/** Paths in the project; a file whose name begins with a dot lies in the template without it. */
const common = ["weir.yaml", "Dockerfile", ".dockerignore", ".gitignore", "README.md"] as const;
const own: Readonly<Record<TemplateName, readonly string[]>> = {
  node: ["package.json", "server.js", "server.test.js"],
  python: ["server.py", "test_server.py"],
  go: ["go.mod", "main.go", "main_test.go"],
  shell: ["function.sh", "test.sh"],
  dockerfile: ["nginx.conf", "test.sh"],
};

/** Paths in a project that begins with this template. */
export function templatePaths(template: TemplateName): readonly string[] {
  return [...common, ...own[template]];
}

/** The files of a template for a function of this name. */
export async function readTemplate(template: TemplateName, functionName: string): Promise<readonly TemplateFile[]> {
  return Promise.all(
    templatePaths(template).map(async (path) => {
      const text = await templateText(`${template}/${path.replace(/^\./, "")}`);
      return { path, text: text.replaceAll(placeholder, functionName) };
    }),
  );
}
