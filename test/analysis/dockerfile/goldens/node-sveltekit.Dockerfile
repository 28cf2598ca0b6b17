FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci

FROM dependencies AS build
COPY . ./
ENV NODE_ENV=production
RUN npm run build
RUN find . -name node_modules -prune -exec rm -rf {} +

FROM dependencies AS production
RUN --mount=type=cache,target=/root/.npm \
    npm prune --omit=dev && mkdir -p node_modules

FROM node:24-slim
RUN install -d -o 1000 -g 1000 /app
WORKDIR /app
ENV NODE_ENV=production \
    HOST=0.0.0.0
ENV PATH="/app/node_modules/.bin:$PATH"
COPY --from=production /app/node_modules/ ./node_modules/
COPY --from=build --chown=1000:1000 /app/package.json ./package.json
COPY --from=build --chown=1000:1000 /app/build/ ./build/
ENV PORT=3000
USER 1000:1000
EXPOSE 3000
HEALTHCHECK NONE
CMD ["node", "build"]
