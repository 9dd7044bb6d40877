# The image's base: any Linux with the Node.js of .nvmrc and npm.
ARG BASE=node:24-bookworm-slim

# Only what the installed packages depend on, so that a change of a source file installs nothing anew.
FROM ${BASE} AS manifests
WORKDIR /berth
COPY . .
RUN find . -type f ! -name package.json ! -name package-lock.json ! -name .npmrc -delete

FROM ${BASE} AS build
# For builders behind a registry of their own.
ARG npm_config_registry
WORKDIR /berth
COPY --from=manifests /berth ./
RUN npm ci --ignore-scripts
COPY . .
RUN NX_DAEMON=false npx nx run-many -t build --projects "libs/*,apps/worker-agent"

FROM ${BASE} AS packages
ARG npm_config_registry
WORKDIR /berth
COPY --from=manifests /berth ./
RUN npm ci --ignore-scripts --omit=dev --workspace @berth/worker-agent
COPY --from=build /berth/libs ./libs
COPY --from=build /berth/apps/worker-agent ./apps/worker-agent
# What is not built, and the libraries that this app does not use, stay behind.
RUN rm -rf libs/*/src libs/*/test apps/worker-agent/src apps/worker-agent/test \
  && for library in libs/*; do [ -e "node_modules/@berth/${library#libs/}" ] || rm -rf "$library"; done

FROM ${BASE}
ENV NODE_ENV=production \
  BERTH_HOME=/var/lib/berth \
  BERTH_BRIDGE_PORT=8010 \
  BERTH_OPERATIONS_PORT=9103 \
  BERTH_LOG_FORMAT=json
WORKDIR /berth
COPY package.json ./
COPY --from=packages /berth/node_modules ./node_modules
COPY --from=packages /berth/libs ./libs
COPY --from=packages /berth/apps/worker-agent ./apps/worker-agent
# With which the agent confines its workers' containers.
RUN command -v iptables >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends iptables \
  && rm -rf /var/lib/apt/lists/*; }
# Its identity and the results that no router has confirmed yet: this must outlive the container.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/berth
VOLUME /var/lib/berth
# A number, because not every base names a user for this.
USER 10001:10001
EXPOSE 8010 9103
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BERTH_OPERATIONS_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "apps/worker-agent/dist/main.js"]
