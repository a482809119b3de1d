import { useComputed } from "@preact/signals";

import { pageLink } from "../data/address/page-links.ts";
import { useConsole } from "../data/console-context.ts";

interface NavigationLink {
  readonly title: string;
  readonly href: string;
  /** Beginnings of paths that belong to it. */
  readonly below: readonly string[];
  /** Without this right there is nothing to see. */
  readonly needs: string;
}

/** The pages that everything else is reached from. */
export const navigationLinks: readonly NavigationLink[] = [
  { title: "Functions", href: pageLink.overview, below: ["/ui/f/", "/ui/new"], needs: "Function:List" },
  { title: "Calls", href: pageLink.calls(), below: ["/ui/calls"], needs: "Call:List" },
  { title: "Queues", href: pageLink.queues, below: ["/ui/queues", "/ui/dead-letters"], needs: "Queue:List" },
  { title: "Secrets", href: pageLink.secrets, below: ["/ui/secrets"], needs: "Secret:List" },
  { title: "Namespaces", href: pageLink.namespaces, below: ["/ui/namespaces"], needs: "Namespace:List" },
  { title: "System", href: pageLink.system, below: ["/ui/system"], needs: "System:Info" },
  { title: "Access", href: pageLink.access, below: ["/ui/access"], needs: "System:Simulate" },
  { title: "Audit", href: pageLink.audit, below: ["/ui/audit"], needs: "System:Audit" },
];

/** The links of {@link navigationLinks} that lead somewhere for who is signed in. */
export function Navigation() {
  const { address, session } = useConsole();
  const path = useComputed(() => address.place.value.path);
  return (
    <nav class="navigation" aria-label="Pages">
      <ul>
        {navigationLinks
          .filter(({ needs }) => session.may(needs))
          .map(({ title, href, below }) => (
            <li key={href}>
              <a
                href={href}
                aria-current={
                  path.value === href || below.some((begin) => path.value.startsWith(begin)) ? "page" : undefined
                }
              >
                {title}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}
