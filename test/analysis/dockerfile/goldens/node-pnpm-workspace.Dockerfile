FROM node:24-slim AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.npm \
    npm install --global pnpm@10.4.1
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY apps/api/package.json ./apps/api/
COPY apps/web/package.json ./apps/web/
COPY packages/shared/package.json ./packages/shared/
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    pnpm install --frozen-lockfile

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN (cd packages/shared && pnpm run build)
WORKDIR /app/apps/api
RUN pnpm run build
WORKDIR /app
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    find . -name node_modules -prune -exec rm -rf {} + && CI=true pnpm install --prod --frozen-lockfile --filter "{./apps/api}..." --prefer-offline --ignore-scripts && mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/apps/api/node_modules/.bin:/app/node_modules/.bin:$PATH"
COPY --from=production /app/ ./
COPY --from=build --chown=1000:1000 /app/packages/shared/ ./packages/shared/
COPY --from=build --chown=1000:1000 /app/apps/api/ ./apps/api/
WORKDIR /app/apps/api
ENV PORT=3001
USER 1000:1000
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "-e", "require('http').get({host:'127.0.0.1',port:process.env.PORT,path:process.argv[1],timeout:4000},r=>process.exit(r.statusCode<process.argv[2]?0:1)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))", "/", "500"]
CMD ["node", "dist/server.js"]
