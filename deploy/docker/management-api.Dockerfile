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
RUN NX_DAEMON=false npx nx run-many -t build --projects "libs/*,apps/management-api"

FROM ${BASE} AS packages
ARG npm_config_registry
WORKDIR /berth
COPY --from=manifests /berth ./
RUN npm ci --ignore-scripts --omit=dev --workspace @berth/management-api
COPY --from=build /berth/libs ./libs
COPY --from=build /berth/apps/management-api ./apps/management-api
# What is not built, and the libraries that this app does not use, stay behind.
RUN rm -rf libs/*/src libs/*/test apps/management-api/src apps/management-api/test \
  && for library in libs/*; do [ -e "node_modules/@berth/${library#libs/}" ] || rm -rf "$library"; done

FROM ${BASE}
ENV NODE_ENV=production \
  BERTH_HTTP_HOST=0.0.0.0 \
  BERTH_HTTP_PORT=8000 \
  BERTH_OPERATIONS_PORT=9100 \
  BERTH_LOG_FORMAT=json
WORKDIR /berth
COPY package.json ./
COPY --from=packages /berth/node_modules ./node_modules
COPY --from=packages /berth/libs ./libs
COPY --from=packages /berth/apps/management-api ./apps/management-api
# The pages that its errors link to, and the description of the job API.
COPY docs/problems ./docs/problems
COPY docs/wire/job-openapi.json ./docs/wire/
# A number, because not every base names a user for this.
USER 10001:10001
EXPOSE 8000 9100
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BERTH_OPERATIONS_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "apps/management-api/dist/main.js"]
