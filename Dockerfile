# The image "weir" of a base image with Node.js 24 or newer. `npm run images` makes it without one, and without a registry.
ARG BASE=node:26-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY runtime runtime
COPY scripts scripts
# Compiled modules fit the Node.js that compiled them, at the path where they will lie.
RUN node scripts/images/stage-program.ts / && chmod -R u=rwX,go=rX /opt/weir

FROM ${BASE}
LABEL org.opencontainers.image.title="weir" org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/weir /opt/weir
USER 65532:65532
ENTRYPOINT ["node", "/opt/weir/start.js"]
