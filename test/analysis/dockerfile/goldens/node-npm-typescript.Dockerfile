FROM node:24-slim AS dependencies
WORKDIR /app
ARG SECRETS_VERSION=0
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,id=project-7-npm,target=/root/.npm \
    --mount=type=secret,id=NPM_TOKEN,required=true \
    export NPM_TOKEN="$(cat /run/secrets/NPM_TOKEN)"; npm ci

FROM dependencies AS build
COPY . ./
ARG APP_VERSION
ARG SECRETS_VERSION=0
ENV NODE_ENV=production
RUN --mount=type=secret,id=NPM_TOKEN,required=true \
    export NPM_TOKEN="$(cat /run/secrets/NPM_TOKEN)"; npm run build
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,id=project-7-npm,target=/root/.npm \
    --mount=type=secret,id=NPM_TOKEN,required=true \
    export NPM_TOKEN="$(cat /run/secrets/NPM_TOKEN)"; npm prune --omit=dev && mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app /app/data
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=production /app/node_modules/ ./node_modules/
COPY --from=build --chown=1000:1000 /app/ ./
ENV PORT=4000
USER 1000:1000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "-e", "require('http').get({host:'127.0.0.1',port:process.env.PORT,path:process.argv[1],timeout:4000},r=>process.exit(r.statusCode<process.argv[2]?0:1)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))", "/", "500"]
CMD ["node", "dist/server.js"]
