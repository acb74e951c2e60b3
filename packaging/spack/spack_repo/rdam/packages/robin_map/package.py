from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import depends_on, license, version


class RobinMap(CMakePackage):
    """Hash map and set with robin hood hashing, headers only."""

    homepage = "https://github.com/Tessil/robin-map"
    git = "https://github.com/Tessil/robin-map.git"

    license("MIT")

    version("1.3.0", tag="v1.3.0", commit="188c45569cc2a5dd768077c193830b51d33a5020")

    depends_on("cxx", type="build")
    depends_on("cmake@3.10:", type="build")
