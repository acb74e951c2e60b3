from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import EnvironmentModifications, depends_on, license, requires, variant, version


class Rdam(MesonPackage):
    """Finds where the threads of a program slow each other down. It wraps functions of an unmodified program, timestamps
    each of their calls, and scores each function by its relative distance to the minimum."""

    license("Apache-2.0")

    # The sources are the tree that this recipe lies in: `spack develop` or `spack dev-build` names it.
    version("0.1.0")

    variant("otf2", default=False, description="rdam export --format otf2")
    variant("study", default=True, description="what rdam study and rdam affinity need to run")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-numpy", type="run")
    depends_on("py-networkx", type="run", when="+study")
    depends_on("py-scipy", type="run", when="+study")
    depends_on("hwloc", type="run", when="+study")

    depends_on("cli11@2.1:")
    depends_on("elfutils")
    depends_on("fmt@9:")
    depends_on("libiberty+pic")
    depends_on("libunwind@1.6:")
    depends_on("ncurses")
    depends_on("nlohmann-json")
    depends_on("otf2", when="+otf2")
    depends_on("protozero")
    depends_on("pugixml")
    depends_on("robin-map")
    depends_on("tl-expected")
    depends_on("tomlplusplus")
    depends_on("xxhash@0.8:")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("zydis@4:")

    requires("target=x86_64:", msg="rdam records with rdtscp and patches x86-64 code")
    requires("platform=linux", msg="rdam records on Linux only")

    def meson_args(self):
        return ["-Dtests=false", f"-Dotf2={'enabled' if self.spec.satisfies('+otf2') else 'disabled'}"]

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.prepend_path("PYTHONPATH", self.prefix.share.rdam.python)
