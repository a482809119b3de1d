import { release } from "../../runtime/api/version.ts";

/** Paths of the files that the page loads. */
export interface IndexLinks {
  readonly sheet: string;
  readonly icon: string;
  /** The entry first. */
  readonly scripts: readonly string[];
}

/** The one document of the console: it contains no data, no style and no script of its own. */
export function indexPage({ sheet, icon, scripts: [entry = "", ...others] }: IndexLinks): string {
  const preloads = others.map((path) => `<link rel="modulepreload" href="${path}">\n`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Weir</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="weir-release" content="${release}">
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${sheet}">
${preloads}<script type="module" src="${entry}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. Everything that it does, the command <code>weir</code> does, too.</p></noscript>
</body>
</html>
`;
}
