"""Registers a gateway that runs on the platform's own machine, without a server that would take its registration."""

from importlib.metadata import version
from pathlib import Path

from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.platform import Platform
from lakehold.workspaces.spaces.gateways import registration
from lakehold.workspaces.spaces.gateways.agent.identity_folder import GatewayConfiguration, IdentityFolder
from lakehold.workspaces.spaces.gateways.endpoint import address_of, load_authority
from lakehold.workspaces.spaces.gateways.key_pairs import KeyPairs
from lakehold.workspaces.spaces.gateways.registration import GatewayRegistration


def register_here(platform: Platform, caller: Caller, gateway: str, folder: Path) -> IdentityFolder:
    """Create a registration code as a caller who may, use it up, and store the keys and where to dial in the folder."""
    keys = KeyPairs.generate()
    with platform.write(caller) as ctx:
        code = registration.create_code(ctx, gateway).text
    proof = keys.prove(registration.REGISTER, code)
    given = GatewayRegistration(code, keys.public, proof, version("lakehold"))
    found = registration.register(platform, given, ClientInfo(address="local"))
    where, authority = address_of(platform.settings), load_authority(platform.settings).decode()
    identity = IdentityFolder(folder)
    identity.save(GatewayConfiguration(found.tenant, found.uid, found.name, where, authority, keys))
    return identity
