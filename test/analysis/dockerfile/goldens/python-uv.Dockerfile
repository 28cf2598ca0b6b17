FROM python:3.13-slim AS dependencies
WORKDIR /app
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install uv==0.5.1
RUN python -m venv /opt/venv
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
ENV UV_PROJECT_ENVIRONMENT=/opt/venv \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --frozen --no-dev --no-install-project

FROM dependencies AS build
COPY . ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --frozen --no-dev --no-editable

FROM python:3.13-slim
RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app && install -d -o 10001 -g 10001 /app
WORKDIR /app
ENV VIRTUAL_ENV=/opt/venv \
    PATH="/opt/venv/bin:$PATH"
ENV PYTHONUNBUFFERED=1
COPY --from=build /opt/venv/ /opt/venv/
COPY --from=build --chown=10001:10001 /app/ ./
ENV PORT=8000
USER 10001:10001
EXPOSE 8000
HEALTHCHECK NONE
CMD ["python", "-m", "shop"]
