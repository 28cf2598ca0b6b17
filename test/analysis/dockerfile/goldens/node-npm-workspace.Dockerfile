FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY apps/api/package.json ./apps/api/
COPY packages/shared/package.json ./packages/shared/
RUN --mount=type=cache,target=/root/.npm \
    npm ci

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN (cd packages/shared && npm run build)
WORKDIR /app/apps/api
RUN npm run build
WORKDIR /app
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,target=/root/.npm \
    npm prune --omit=dev && mkdir -p node_modules

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
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["node", "dist/server.js"]
