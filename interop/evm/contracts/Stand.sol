// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

interface Token20 {
    function transfer(address to, uint256 amount) external returns (bool);
}

interface Pool3 {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address owner, int24 low, int24 high, uint128 amount, bytes calldata data) external returns (uint256, uint256);
}

/// Provides liquidity to Uniswap v3 pools from its own balance.
contract Liquidity {
    function provide(Pool3 pool, int24 low, int24 high, uint128 amount) external {
        pool.mint(address(this), low, high, amount, "");
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        Token20(Pool3(msg.sender).token0()).transfer(msg.sender, amount0);
        Token20(Pool3(msg.sender).token1()).transfer(msg.sender, amount1);
    }
}

/// An ERC-4337 paymaster, of any version, that pays for everything: every function returns
/// an empty context and no time limit.
contract Paymaster {
    fallback(bytes calldata) external payable returns (bytes memory) {
        return abi.encode(bytes(""), uint256(0));
    }
}

/// Sends a Safe's transaction with signatures that are padded with zeros, which fills the
/// memory of the Safe before it measures gas.
contract Padder {
    function pad(address safe, bytes calldata before, bytes calldata signatures, uint256 zeros) external {
        bytes memory padded = bytes.concat(signatures, new bytes(zeros));
        (bool ok, ) = safe.call(bytes.concat(before, abi.encode(padded.length), padded, new bytes((32 - (padded.length % 32)) % 32)));
        require(ok);
    }
}

/// A guard that takes a whole transaction in its memory.
contract Guard {
    function checkTransaction(
        address,
        uint256,
        bytes memory data,
        uint8,
        uint256,
        uint256,
        uint256,
        address,
        address payable,
        bytes memory signatures,
        address
    ) external pure {
        require(data.length + signatures.length > 0);
    }

    function checkAfterExecution(bytes32, bool) external {}

    function supportsInterface(bytes4) external pure returns (bool) {
        return true;
    }
}

/// A paymaster that takes tokens of the sender, which has approved them to it.
contract TokenPaymaster {
    address immutable token;

    constructor(address taken) {
        token = taken;
    }

    // The sender is the first member of the operation, whose offset is the first word.
    fallback(bytes calldata input) external payable returns (bytes memory) {
        uint256 at = 4 + uint256(bytes32(input[4:36]));
        if (at + 32 <= input.length && at == 4 + 96) {
            address sender = address(uint160(uint256(bytes32(input[at:at + 32]))));
            (bool ok, ) = token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", sender, address(this), 7));
            require(ok);
        }
        return abi.encode(bytes(""), uint256(0));
    }
}
