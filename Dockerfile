# docker build -t offhook . makes the server's image: Node, the packages it runs on, its sources, espeak-ng. No compiler,
# no tests. Models, database and recordings stay in the volumes /models and /data. docs/deploy.md says how to run it.

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No package needs its install script here: onnxruntime-node's would download CUDA, and the others' binaries are in their
# archives. koffi's is an optional package for each platform. The WASM build of espeak-ng and the second Node are left out; the image has both programs.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/espeak-ng node_modules/node-linux-*
# Libraries for other systems and processors are 250 MB, three quarters of all packages.
RUN find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 -type d ! -path "*/linux/$(node -p process.arch)" -exec rm -rf {} + \
  && find node_modules/better-sqlite3/prebuilds -type f ! -name "linux-$(node -p process.arch).node" -delete \
  && node -e "require('onnxruntime-node'); require('koffi').load(null); new (require('better-sqlite3'))(':memory:')"

# The dashboard's page, the manual and the server in plain JavaScript: Vite, Eleventy, Rolldown and what they need stay behind in this stage.
# Rolldown's native parts are optional packages.
FROM node:24.21.0-bookworm-slim AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
# Vite reads how to translate the sources from it.
COPY tsconfig.json ./
COPY src/dashboard src/dashboard
# The page offers them to those who add a trunk.
COPY sip-config/presets sip-config/presets
COPY src/cli/build-dashboard.ts src/cli/build-dashboard.ts
COPY src/cli/build-output.ts src/cli/build-output.ts
RUN node src/cli/build-dashboard.ts --always
COPY docs docs
COPY sip-config/README.md sip-config/README.md
COPY models/README.md models/README.md
COPY clients/README.md clients/README.md
COPY examples/README.md examples/README.md
COPY observability/README.md observability/README.md
RUN node docs/tools/build-manual.ts --always
COPY models/prepare models/prepare
COPY src src
RUN node src/cli/build-server.ts --always

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Offhook" \
  org.opencontainers.image.description="Self-hosted phone server for voice agents" \
  org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later"
# Debian takes replaced versions out of its archive: a pinned one would not build for long.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends espeak-ng tini \
  && rm -rf /var/lib/apt/lists/*
# The numbers are fixed, so that the owner of a volume stays the same from image to image.
RUN groupadd --gid 10001 offhook \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin offhook \
  && install -d -o 10001 -g 10001 -m 0750 /data /models
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=built /app/dist dist
COPY package.json LICENSE ./
COPY models models
COPY src src
RUN node src/cli/prepare-bundled-models.ts
# The checkout may be readable by its owner alone. Carriers and their passwords are mounted, never built in: with this
# list only the container itself may ring.
RUN chmod -R a+rX package.json LICENSE dist models src \
  && install -d sip-config && echo '[]' > sip-config/trunks.json
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data MODELS_DIR=/models ORT_DISABLE_TELEMETRY=1
USER 10001:10001
VOLUME ["/data", "/models"]
EXPOSE 3000/tcp 5060/tcp 5060/udp 5061/tcp
# The first SIGTERM drains: give `docker stop` as long as DRAIN_TIMEOUT_SECONDS, with --time.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "dist/server/health-check.js"]
# tini is process 1: it passes signals on, and buries what the voices' and models' processes leave behind.
ENTRYPOINT ["tini", "--"]
CMD ["node", "--max-semi-space-size=16", "--min-semi-space-size=16", "dist/server/main.js"]
