FROM node:24-slim AS dependencies
WORKDIR /app
ENV YARN_NODE_LINKER=node-modules \
    YARN_ENABLE_GLOBAL_CACHE=true \
    YARN_ENABLE_TELEMETRY=0
RUN --mount=type=cache,target=/root/.npm \
    npm install --global --force @yarnpkg/cli-dist@4.9.1
COPY package.json yarn.lock .yarnrc.yml ./
RUN --mount=type=cache,target=/root/.yarn/berry/cache \
    yarn install --immutable

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN yarn build
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,target=/root/.yarn/berry/cache \
    yarn workspaces focus --production && mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=production /app/node_modules/ ./node_modules/
COPY --from=build --chown=1000:1000 /app/ ./
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["node", "dist/main.js"]
