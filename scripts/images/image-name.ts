/** The name in containerd's form: without a registry, it belongs to docker.io. */
export function fullImageName(name: string): string {
  const [first = "", ...rest] = name.split("/");
  if (rest.length === 0) return `docker.io/library/${name}`;
  return /[.:]|^localhost$/.test(first) ? name : `docker.io/${name}`;
}
