FROM oven/bun:1.2.4-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock ./
RUN --mount=type=cache,target=/root/.bun/install/cache \
    bun install --frozen-lockfile --production
RUN mkdir -p node_modules

FROM oven/bun:1.2.4-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=dependencies /app/node_modules/ ./node_modules/
COPY --chown=1000:1000 . ./
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["bun", "src/index.ts"]
