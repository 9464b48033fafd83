"""Services that run the checks of a repository, by the files that they read."""

from __future__ import annotations

from typing import Final

CI_SERVICES: Final = {
    ".github/workflows": "GitHub Actions",
    ".gitlab-ci.yml": "GitLab CI",
    ".circleci": "CircleCI",
    ".buildkite": "Buildkite",
    ".travis.yml": "Travis CI",
    ".drone.yml": "Drone",
    ".woodpecker.yml": "Woodpecker",
    "Jenkinsfile": "Jenkins",
    "azure-pipelines.yml": "Azure Pipelines",
    "bitbucket-pipelines.yml": "Bitbucket Pipelines",
}
"""The service that runs a file or folder at the root of a repository."""
