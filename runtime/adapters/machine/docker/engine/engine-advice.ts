import { engineSocket } from "../../../../api/engine-address.ts";

const alternative = "or choose --provider local";

/**
 * What to do about an engine at `address` that cannot be reached, by the code of the system's error; undefined when
 * there is nothing to add to the error's message.
 */
export function engineAdvice(address: string, code: string | undefined): string | undefined {
  const which = address === engineSocket ? "" : ", or name another one with --docker-socket or DOCKER_HOST";
  switch (code) {
    case "ENOENT":
      return `install an engine (apt-get install docker.io) or start it (systemctl start docker)${which}, ${alternative}`;
    case "ECONNREFUSED":
      return `start it (systemctl start docker)${which}, ${alternative}`;
    case "EACCES":
    case "EPERM":
      return `start Weir as root or as a member of the group of that socket (usermod -aG docker <user>), ${alternative}`;
    default:
      return undefined;
  }
}
