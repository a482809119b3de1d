/** The anchors of a page: those that GitHub makes from headings, and those set with `<a id>`. */
export function markdownAnchors(markdown: string): ReadonlySet<string> {
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, "");
  const anchors = new Set([...prose.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = slugOf(heading);
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}
